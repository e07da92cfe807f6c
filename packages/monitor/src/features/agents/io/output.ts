// The output file of an agent. `watchOutput` follows it and folds its lines; nothing is stored, so after a restart the
// file is folded again from its start. A file that was cut or replaced is read from its start, and its sessions are not
// counted twice. `readOutput` returns a part for a person: the newest lines, or those after a byte, and the end of its
// standard error. Reads are bounded, and nothing outside the run's folder is read, neither by name nor through a link.
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { openFile, realpath } from '@svc/lib/paths';
import { every } from '@svc/lib/rounds';
import { Failure } from '../../../kernel/failure.ts';
import type { WorkerOutput } from '../../workers/api.ts';
import {
  type AgentStream,
  errorTail,
  noAgentStream,
  type OutputLine,
  readAgentStream,
  readOutputLine,
} from '../agent-output.ts';
import { createLineReader, type LineReader } from '../line-reader.ts';
import { agentFiles } from './launch.ts';

const CHUNK = 64 * 1024;
/** Longer lines are skipped: the important ones are short. */
const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type OutputWatch = {
  stream: () => AgentStream;
  /** When the file was last written, possibly by an attempt long ago; null while there is no file. */
  lastOutputAt: () => string | null;
  /** Lines that were skipped because of their length. */
  tooLong: () => number;
  /** Reads what is new; callers that arrive during a read share the next one. */
  read: () => Promise<void>;
  stop: () => Promise<void>;
};

export function watchOutput({
  path,
  onChange,
  onProblem,
  everyMs = 1_000,
}: {
  path: string;
  onChange?: (stream: AgentStream) => void;
  onProblem?: (error: unknown) => void;
  everyMs?: number;
}): OutputWatch {
  let stream = noAgentStream;
  let lastOutputAt: string | null = null;
  let tooLong = 0;
  let stopped = false;
  let file: { identity: string; offset: number; lines: LineReader } | null = null;

  async function readOn(): Promise<void> {
    if (stopped) return;
    const handle = await ifPresent(openFile(path, { flags: flags }));
    if (handle === undefined) return;
    const before = stream;
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return;
      lastOutputAt = stats.mtime.toISOString();
      const identity = identityOf(stats);
      if (file === null || file.identity !== identity || stats.size < file.offset)
        file = { identity, offset: 0, lines: createLineReader(LONGEST_LINE) };
      const chunk = Buffer.alloc(CHUNK);
      // No further than the file's size at the start: a fast writer must not keep this loop running.
      while (file.offset < stats.size) {
        const length = Math.min(CHUNK, stats.size - file.offset);
        const { bytesRead } = await handle.read(chunk, 0, length, file.offset);
        if (bytesRead === 0) break;
        file.offset += bytesRead;
        file.lines.add(chunk.subarray(0, bytesRead), (line, { isWhole }) => {
          if (isWhole) stream = readAgentStream(stream, line);
          else tooLong += 1;
        });
      }
    } finally {
      await handle.close();
    }
    if (stream !== before && !stopped) onChange?.(stream);
  }

  const rounds = every(everyMs, readOn, (error) => onProblem?.(error));
  void rounds.runNow();
  return {
    stream: () => stream,
    lastOutputAt: () => lastOutputAt,
    tooLong: () => tooLong,
    read: rounds.runAfresh,
    async stop() {
      stopped = true;
      await rounds.stop();
    },
  };
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Read at once. A longer line is returned in pieces that cannot be parsed. */
const MOST_BYTES = 1024 * 1024;
const MOST_ERROR_BYTES = 16 * 1024;
const TOLERANCE_MS = 2_000;

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
  /** The byte to continue from; without it the newest lines are returned. */
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
  /** The start of the process, exact to about a second: nothing is returned if everything was written earlier. */
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
    // The first line may be cut off at its start.
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
    // An unfinished line is read when it is complete.
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
  // The first line may be cut off at its start.
  const first = begin >= 0 ? begin + 1 : start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (last < 0) return { from: size, to: start === 0 ? 0 : size, lines: [] };
  return following(handle, start + last + 1, start + first, limit);
}

async function bytesOf(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}

/** Null when there is no such file. The folders inside the runs folder must be folders, not links. */
async function openInside(runsDir: string, orchestrator: string, file: string): Promise<FileHandle | null> {
  try {
    const expected = join(await realpath(runsDir), orchestrator, 'workers', 'output');
    if ((await realpath(dirname(file))) !== expected) throw outside(file);
    return await openFile(file, { flags: flags });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR') throw outside(file);
    throw error;
  }
}

function outside(file: string): Failure {
  return new Failure('file-unusable', `${file} is not a regular file of its run, so it is not read.`);
}
