// The inbox of a worker, `<runs folder>/<orchestrator>/workers/inbox/<ticket>.jsonl`: what it is told, one JSON
// object in each line, oldest first. Agents know it as SVC_INBOX_FILE. A message is there once, by its key.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ReactionCause, safeSegment } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { syncFolder } from '../../disk/atomic-write.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { Failure } from '../../errors.ts';

/** More is not read: a worker is told few things, and each is bounded. */
const MAX_BYTES = 1024 * 1024;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export type InboxMessage = {
  /** Of the effect that asked for it. */
  key: string;
  at: string;
  cause: ReactionCause;
  /** Of its cause, from 1. */
  number: number;
  url: string | null;
  text: string;
};

export function inboxPath(
  runsDir: string,
  { orchestrator, ticket }: { orchestrator: string; ticket: string },
): string {
  if (!safeSegment(orchestrator) || !safeSegment(ticket))
    throw new Failure('usage', `"${orchestrator}/${ticket}" cannot be the name of a worker.`);
  return join(runsDir, orchestrator, 'workers', 'inbox', `${ticket}.jsonl`);
}

export async function hasMessages(path: string): Promise<boolean> {
  return (await readInbox(path)) !== '';
}

/** When the message of that key was written; undefined when it is not there. */
export async function messageWrittenAt(path: string, key: string): Promise<string | undefined> {
  for (const line of (await readInbox(path)).split('\n')) {
    const message = messageIn(line);
    if (message?.key === key) return String(message.at);
  }
  return undefined;
}

/** Call it only when the message is not there; one call at a time for a key. */
export async function writeMessage(path: string, message: InboxMessage): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const before = await readInbox(path);
  const handle = await open(path, appending, 0o600);
  try {
    // In one write, and never behind a line that was cut off.
    const start = before === '' || before.endsWith('\n') ? '' : '\n';
    await handle.appendFile(`${start}${JSON.stringify(message)}\n`);
    await handle.datasync();
    if (before === '') await syncFolder(dirname(path));
  } finally {
    await handle.close();
  }
}

/** A line that was cut off by a kill says nothing. */
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
