// The inbox of a worker, `<runs folder>/<orchestrator>/workers/inbox/<ticket>.jsonl`: its messages, one JSON object per
// line, oldest first. Agents know it as SVC_INBOX_FILE. A message appears once, by its key.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ReactionCause, safeSegment } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { syncFolder } from '../../disk/atomic-write.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { Failure } from '../../errors.ts';

/** The rest is not read: a worker gets few messages, and each is bounded. */
const MAX_BYTES = 1024 * 1024;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export type InboxMessage = {
  /** The key of the effect that caused it. */
  key: string;
  at: string;
  cause: ReactionCause;
  /** Per cause, from 1. */
  number: number;
  url: string | null;
  text: string;
};

export function inboxPath(
  runsDir: string,
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
): string {
  if (!safeSegment(orchestrator) || !safeSegment(ticket))
    throw new Failure('usage', `"${orchestrator}/${ticket}" is not a valid worker name.`);
  return join(runsDir, orchestrator, 'workers', 'inbox', `${ticket}.jsonl`);
}

export async function hasMessages(path: string): Promise<boolean> {
  return (await readInbox(path)) !== '';
}

/** When the message with this key was written; undefined when there is none. */
export async function messageWrittenAt(path: string, key: string): Promise<string | undefined> {
  for (const line of (await readInbox(path)).split('\n')) {
    const message = messageIn(line);
    if (message?.key === key) return String(message.at);
  }
  return undefined;
}

/** Call it only when the message is not there yet; one call at a time for a key. */
export async function writeMessage(path: string, message: InboxMessage): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const before = await readInbox(path);
  const handle = await open(path, appending, 0o600);
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

/** A line that was cut off by a kill is ignored. */
function messageIn(line: string): { key?: unknown; at?: unknown } | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function readInbox(path: string): Promise<string> {
  const handle = await ifPresent(open(path, reading));
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
