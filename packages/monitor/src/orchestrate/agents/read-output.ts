// A part of an agent's output for a person: the newest lines, or those after a byte, and the end of its standard error.
// Reads are bounded, whatever is written there, and nothing outside of the run's own folder is read: not through a
// name, nor through a link.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorTail, type OutputLine, readOutputLine, type WorkerOutput } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { Failure } from '../../errors.ts';
import { agentFiles } from './launch.ts';

/** Read at once. A longer line is given in pieces that are not understood. */
const MOST_BYTES = 1024 * 1024;
const MOST_ERROR_BYTES = 16 * 1024;
const TOLERANCE_MS = 2_000;
const NEWLINE = 0x0a;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function readOutput({
  runsDir,
  orchestrator,
  ticket,
  after,
  limit,
}: {
  runsDir: string;
  orchestrator: string;
  ticket: string;
  /** The byte to go on from; without it the newest lines are given. */
  after: number | undefined;
  limit: number;
}): Promise<WorkerOutput> {
  const { output: file } = agentFiles(runsDir, { orchestrator, ticket, attempt: 1 });
  const errors = await readErrors({ runsDir, orchestrator, ticket });
  const nothing = {
    ticket,
    orchestrator,
    file,
    from: 0,
    to: 0,
    size: 0,
    restarted: false,
    lines: [],
    errors,
  };
  const handle = await openInside(runsDir, orchestrator, file);
  if (handle === null) return { ...nothing, exists: false };
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw outside(file);
    const { size } = stats;
    const restarted = after !== undefined && after > size;
    const part =
      after === undefined
        ? await newest(handle, size, limit)
        : await following(handle, size, restarted ? 0 : after, limit);
    return { ...nothing, exists: true, size, restarted, ...part };
  } finally {
    await handle.close();
  }
}

type OfAgent = {
  runsDir: string;
  orchestrator: string;
  ticket: string;
  /** The start of the process, exact to about a second: nothing when all was written before. */
  since?: string | undefined;
};

/** The last lines of the agent's standard error, as plain text; empty also when they cannot be read. */
export async function readErrors(agent: OfAgent): Promise<string> {
  try {
    return await endOfErrors(agent);
  } catch (error) {
    if (error instanceof Failure || systemErrorCode(error) !== undefined) return '';
    throw error;
  }
}

async function endOfErrors({ runsDir, orchestrator, ticket, since }: OfAgent): Promise<string> {
  const { errors: file } = agentFiles(runsDir, { orchestrator, ticket, attempt: 1 });
  const handle = await openInside(runsDir, orchestrator, file);
  if (handle === null) return '';
  try {
    const stats = await handle.stat();
    const { size, mtimeMs } = stats;
    if (!stats.isFile() || (since !== undefined && mtimeMs < Date.parse(since) - TOLERANCE_MS)) return '';
    const from = Math.max(0, size - MOST_ERROR_BYTES);
    const text = (await bytesOf(handle, from, size)).toString('utf8');
    // The first line in view may have begun before it.
    return errorTail(from === 0 ? text : text.slice(text.indexOf('\n') + 1));
  } finally {
    await handle.close();
  }
}

type Part = { from: number; to: number; lines: OutputLine[] };

async function following(handle: FileHandle, size: number, from: number, limit: number): Promise<Part> {
  const bytes = await bytesOf(handle, from, Math.min(size, from + MOST_BYTES));
  const isLong = bytes.length === MOST_BYTES && bytes.indexOf(NEWLINE) < 0;
  const lines: OutputLine[] = [];
  let begin = 0;
  for (let count = 0; count < limit; count += 1) {
    const end = isLong && begin === 0 ? bytes.length : bytes.indexOf(NEWLINE, begin);
    // What has no end yet is read when it has one.
    if (end < 0 || begin >= bytes.length) break;
    lines.push(...readOutputLine(bytes.toString('utf8', begin, end), from + begin));
    begin = Math.min(bytes.length, end + 1);
  }
  return { from, to: from + begin, lines };
}

async function newest(handle: FileHandle, size: number, limit: number): Promise<Part> {
  const start = Math.max(0, size - MOST_BYTES);
  const bytes = await bytesOf(handle, start, size);
  const last = bytes.lastIndexOf(NEWLINE);
  let begin = last;
  for (let count = 0; count < limit && begin >= 0; count += 1)
    begin = begin === 0 ? -1 : bytes.lastIndexOf(NEWLINE, begin - 1);
  // The first line in view may have begun before it.
  const first = begin >= 0 ? begin + 1 : start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (last < 0) return { from: size, to: start === 0 ? 0 : size, lines: [] };
  return following(handle, start + last + 1, start + first, limit);
}

async function bytesOf(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}

/** Null when there is no such file. The folders below the runs' own must be folders, not links to elsewhere. */
async function openInside(runsDir: string, orchestrator: string, file: string): Promise<FileHandle | null> {
  try {
    const expected = join(await realpath(runsDir), orchestrator, 'workers', 'output');
    if ((await realpath(dirname(file))) !== expected) throw outside(file);
    return await open(file, flags);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO') throw outside(file);
    throw error;
  }
}

function outside(file: string): Failure {
  return new Failure('file-unusable', `${file} is no plain file of its run, and is not read.`);
}
