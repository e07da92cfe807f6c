// The inbox of a worker, `<runs folder>/<orchestrator>/workers/inbox/<ticket>.jsonl`: its messages, one JSON object per
// line, oldest first. Agents know it as SVC_INBOX_FILE. A message appears once, by its key.
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Fields, jsonIn } from '@svc/contract/payload-fields';
import { safeSegment } from '@svc/contract/signal-file';
import { ifPresent } from '@svc/lib/files';
import { openFile, syncFolder } from '@svc/lib/paths';
import { makeFolder } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { RecallCause } from '../../workers/reaction-causes.ts';
import { AttachedImage } from '../schemas.ts';

/** The rest is not read: a worker gets few messages, and each is bounded. */
const MAX_BYTES = 1024 * 1024;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export type InboxMessage = {
  /** The key of the effect that caused it. */
  key: string;
  at: string;
  cause: RecallCause;
  /** Per cause, from 1; null: a person's message. */
  number: number | null;
  by?: string;
  url: string | null;
  text: string;
  /** Images of a person's message. */
  images?: AttachedImage[];
};

export function inboxPath(
  runsDir: string,
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
): string {
  if (!safeSegment(orchestrator) || !safeSegment(ticket))
    throw new Failure('usage', `"${orchestrator}/${ticket}" is not the name of a run and a ticket.`);
  return join(runsDir, orchestrator, 'workers', 'inbox', `${ticket}.jsonl`);
}

/** Oldest first. A line that was cut off by a kill is ignored. */
export async function readInbox(path: string): Promise<InboxMessage[]> {
  const lines = (await inboxText(path)).split('\n');
  return lines.map(jsonIn).filter(isMessage).map(withKnownImages);
}

/** Their hashes become parts of paths. */
function withKnownImages({ images, ...message }: InboxMessage): InboxMessage {
  const known = AttachedImage.array().safeParse(images);
  return known.success ? { ...message, images: known.data } : message;
}

function isMessage(fields: Fields | undefined): fields is InboxMessage {
  return ['key', 'at', 'text'].every((name) => typeof fields?.[name] === 'string');
}

/** Call it only when the message is not there yet; one call at a time for a key. */
export async function writeMessage(path: string, message: InboxMessage): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const before = await inboxText(path);
  const handle = await openFile(path, { flags: appending, mode: 0o600 });
  try {
    // In one write, and never after an incomplete line.
    const start = before === '' || before.endsWith('\n') ? '' : '\n';
    await handle.appendFile(`${start}${JSON.stringify(message)}\n`);
    await handle.datasync();
    if (before === '') await syncFolder(dirname(path));
  } finally {
    await handle.close();
  }
}

async function inboxText(path: string): Promise<string> {
  const handle = await ifPresent(openFile(path, { flags: reading }));
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
