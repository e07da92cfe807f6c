// A pid file: written once, by the shell that then becomes the agent. Its time proves whose the pid is.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { systemErrorCode } from '../../errors.ts';
import type { ProcessStart } from '../../runs/process-start.ts';

const MOST_BYTES = 32;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The shell writes right after its start; a busy machine may let it wait. */
const LONGEST_START_MS = 60_000;
/** Start times of processes are exact to about a second. */
const TOLERANCE_MS = 2_000;

/** `pid` is null while nothing is written: the start is under way, or was cut off. */
export type PidFile = { pid: number | null; writtenAt: number };

/** Null when there is none, or something that is no pid file. */
export async function readPidFile(path: string): Promise<PidFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return null;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return null;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    const [, digits] = /^(\d{1,10})\n$/.exec(text) ?? [];
    return { pid: digits === undefined ? null : Number(digits), writtenAt: stats.mtimeMs };
  } finally {
    await handle.close();
  }
}

/**
 * Whether the running process is the one that wrote the file. A process that got the pid later started after the
 * file was written; one that lived then and lives now is the writer.
 */
export function wrotePidFile(
  start: Extract<ProcessStart, { state: 'running' }>,
  { writtenAt }: PidFile,
): boolean {
  const before = writtenAt - start.startedAt;
  return before >= -TOLERANCE_MS && before <= LONGEST_START_MS;
}
