// Finds the agents of a run again by their pid files, also those that nobody remembers having started.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { safeSegment } from '@svc/core';
import { systemErrorCode } from '../../errors.ts';
import type { ProcessStart, ReadProcessStarts } from '../../runs/process-start.ts';
import { pidFolder, readPidFileName } from './agent-files.ts';
import { type PidFile, readPidFile, wrotePidFile } from './pid-file.ts';

const MOST_FILES = 10_000;
const READERS = 32;
/** An empty pid file that is older was left by a start that was cut off. */
const STARTING_MS = 30_000;

export type FoundAgent = {
  orchestrator: string;
  ticket: string;
  attempt: number;
  /** When the pid file was written: the start of the attempt. */
  launchedAt: string;
} & AgentState;

type AgentState =
  | { state: 'running'; pid: number; startedAt: string }
  /** The shell has made the file and not yet written into it. */
  | { state: 'starting' }
  /** How it ended is not known. `pid` is what it had, if it ever began. */
  | { state: 'gone'; pid: number | null }
  /** There is a process, and whose it is cannot be seen. */
  | { state: 'unknown'; pid: number; problem: string };

/** Every attempt that was ever made in the run, by ticket and attempt. */
export async function findAgents({
  runsDir,
  orchestrator,
  processStarts,
  now,
}: {
  runsDir: string;
  orchestrator: string;
  processStarts: ReadProcessStarts;
  now: () => Date;
}): Promise<FoundAgent[]> {
  const files = safeSegment(orchestrator) ? await pidFiles(pidFolder(runsDir, orchestrator)) : [];
  const pids = new Set(files.flatMap(({ file }) => (file.pid === null ? [] : [file.pid])));
  const starts = pids.size === 0 ? new Map<number, ProcessStart>() : await processStarts([...pids]);
  return files
    .map(({ ticket, attempt, file }): FoundAgent => {
      const launchedAt = new Date(file.writtenAt).toISOString();
      return { orchestrator, ticket, attempt, launchedAt, ...stateOf(file, starts, now()) };
    })
    .toSorted((one, other) =>
      one.ticket === other.ticket ? one.attempt - other.attempt : one.ticket < other.ticket ? -1 : 1,
    );
}

/** The number of the next launch of a ticket: one more than any that there was. */
export function nextAttempt(agents: readonly FoundAgent[], ticket: string): number {
  return Math.max(0, ...agents.filter((agent) => agent.ticket === ticket).map(({ attempt }) => attempt)) + 1;
}

type Found = { ticket: string; attempt: number; file: PidFile };

async function pidFiles(folder: string): Promise<Found[]> {
  const named = (await namesIn(folder)).flatMap((name) => {
    const whose = readPidFileName(name);
    return whose === undefined ? [] : [{ ...whose, path: join(folder, name) }];
  });
  if (named.length > MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} pid files.`);
  const found: Found[] = [];
  for (let from = 0; from < named.length; from += READERS) {
    const some = named.slice(from, from + READERS);
    const files = await Promise.all(some.map(({ path }) => readPidFile(path)));
    for (const [index, { ticket, attempt }] of some.entries()) {
      const file = files[index];
      if (file) found.push({ ticket, attempt, file });
    }
  }
  return found;
}

function stateOf(file: PidFile, starts: ReadonlyMap<number, ProcessStart>, now: Date): AgentState {
  const { pid } = file;
  const gone = { state: 'gone', pid } as const;
  if (pid === null) return now.getTime() - file.writtenAt < STARTING_MS ? { state: 'starting' } : gone;
  const start = starts.get(pid);
  if (start === undefined) return gone;
  if (start.state === 'unknown') return { state: 'unknown', pid, problem: start.problem };
  if (start.state === 'gone' || !wrotePidFile(start, file)) return gone;
  return { state: 'running', pid, startedAt: new Date(start.startedAt).toISOString() };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
