// Finds the agents of a run by their pid files, also after a restart of the daemon, and ends what they left running. How
// an agent ended is kept beside its pid file where that decides what is done next: it went silent, or its program could
// not be started.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Revivals, safeSegment } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { namesIn } from '@svc/lib/files';
import { createLimit } from '@svc/lib/limit';
import type { ProcessStart, ReadProcessStarts } from '../../runs/processes.ts';
import { endGroup } from '../worktrees/steps.ts';
import { agentFiles, type PidFile, pidFolder, readPidFile, readPidFileName, wrotePidFile } from './launch.ts';

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
  const limit = createLimit(READERS);
  const found = await Promise.all(
    named.map(async ({ ticket, attempt, path }) => {
      const file = await limit(() => readPidFile(path));
      return file ? [{ ticket, attempt, file }] : [];
    }),
  );
  return found.flat();
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

// Ends what an agent left running when nobody was there to see its end. The agent is gone and its pid proves
// nothing any more, but what it started is still in its group and carries the agent's names in its environment.
// Where the system does not show environments, nothing is touched.

const GRACE_MS = 5_000;

/** Not shown: there is a group, and whose it is cannot be seen. */
export type Leftovers = 'none' | 'ended' | 'not-shown';

export async function endLeftovers({
  pid,
  orchestrator,
  ticket,
  graceMs = GRACE_MS,
}: {
  /** Of the agent that is gone. */
  pid: number;
  orchestrator: string;
  ticket: string;
  graceMs?: number;
}): Promise<Leftovers> {
  if (!groupIsThere(pid)) return 'none';
  const members = await membersOf(pid);
  const wanted = [`SVC_ORCHESTRATOR=${orchestrator}`, `SVC_TICKET=${ticket}`];
  for (const member of members) {
    const variables = (await textOf(`/proc/${member}/environ`))?.split('\0') ?? [];
    if (!wanted.every((one) => variables.includes(one))) continue;
    await endGroup(pid, graceMs);
    return 'ended';
  }
  return members.length === 0 ? 'none' : 'not-shown';
}

function groupIsThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return false;
    if (systemErrorCode(error) === 'EPERM') return true;
    throw error;
  }
}

/** Those that live; one that only waits for its parent is none. */
async function membersOf(group: number): Promise<string[]> {
  const members: string[] = [];
  for (const name of await readdir('/proc').catch(noProcesses)) {
    if (!/^\d+$/.test(name)) continue;
    const text = await textOf(`/proc/${name}/stat`);
    // The name of the program is in brackets and may itself hold spaces and brackets.
    const [state, , own] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
    if (own === String(group) && state !== 'Z' && state !== 'X') members.push(name);
  }
  return members;
}

function noProcesses(error: unknown): string[] {
  if (systemErrorCode(error) !== 'ENOENT') throw error;
  return [];
}

/** Undefined when the process has gone in the meantime, or is another user's. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

type Attempt = { orchestrator: string; ticket: string; attempt: number };
export type MarkedEnd = Exclude<Revivals['lastEnd'], 'died'>;

const PID = '.pid';
const suffixes: Readonly<Record<MarkedEnd, string>> = { hanging: '.hung', unstartable: '.unstartable' };

export async function markEnd(runsDir: string, agent: Attempt, end: MarkedEnd): Promise<void> {
  const path = agentFiles(runsDir, agent).pidFile.slice(0, -PID.length) + suffixes[end];
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, '', { mode: 0o600 });
}

/** By ticket and attempt: `ENG-1.2`. */
export async function endMarks(runsDir: string, orchestrator: string): Promise<Map<string, MarkedEnd>> {
  const marks = new Map<string, MarkedEnd>();
  for (const name of await namesIn(pidFolder(runsDir, orchestrator)))
    for (const end of ['hanging', 'unstartable'] as const)
      if (name.endsWith(suffixes[end])) marks.set(name.slice(0, -suffixes[end].length), end);
  return marks;
}
