// Finds the agents of a run by their pid files, even after a restart of the daemon, and ends the processes they left
// running. The way an agent ended is recorded beside its pid file if it decides what happens next: it went silent, or
// its program could not be started.
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { endGroup } from '@svc/lib/end-group';
import { createLimit } from '@svc/lib/limit';
import { namesIn, openFile } from '@svc/lib/paths';
import { groupExists } from '@svc/lib/pid';
import { type ProcessStart, type ReadProcessStarts, system } from '@svc/lib/system';
import { agentFiles, type PidFile, pidFolder, readPidFile, readPidFileName, wrotePidFile } from './launch.ts';

const MOST_FILES = 10_000;
const READERS = 32;
/** An empty pid file that is older than this was left by an interrupted start. */
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
  /** The shell has created the file and not yet written to it. */
  | { state: 'starting' }
  /** How it ended is not known. `pid` is the one it had, if it ever started. */
  | { state: 'gone'; pid: number | null }
  /** The process exists, but its owner cannot be determined. */
  | { state: 'unknown'; pid: number; problem: string };

/** Every attempt ever made in the run, by ticket and attempt. */
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

/** The number of a ticket's next launch: one more than any before. */
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

// Ends the processes that an agent left running if the daemon did not see its end. The agent is gone and its pid proves
// nothing, but the processes it started are still in its group and have the agent's names in their environment. On
// systems that do not show environments, nothing is touched.

const GRACE_MS = 5_000;

/** Not shown: the group exists, but its owner cannot be determined. */
export type Leftovers = 'none' | 'ended' | 'not-shown';

export async function endLeftovers({
  pid,
  orchestrator,
  ticket,
  graceMs = GRACE_MS,
}: {
  pid: number;
  orchestrator: string;
  ticket: string;
  graceMs?: number;
}): Promise<Leftovers> {
  if (!groupExists(pid)) return 'none';
  const members = await system.groupMembers(pid);
  const wanted = [`SVC_ORCHESTRATOR=${orchestrator}`, `SVC_TICKET=${ticket}`];
  for (const member of members ?? []) {
    const variables = (await system.environmentOf(member)) ?? [];
    if (!wanted.every((one) => variables.includes(one))) continue;
    await endGroup(pid, graceMs);
    return 'ended';
  }
  return members?.length === 0 ? 'none' : 'not-shown';
}

type Attempt = { orchestrator: string; ticket: string; attempt: number };
/** Hanging: it was stopped because it had become silent. Unstartable: its program is missing or not executable. */
export type MarkedEnd = 'hanging' | 'unstartable';

const PID = '.pid';
const suffixes: Readonly<Record<MarkedEnd, string>> = { hanging: '.hung', unstartable: '.unstartable' };

export async function markEnd(runsDir: string, agent: Attempt, end: MarkedEnd): Promise<void> {
  const path = agentFiles(runsDir, agent).pidFile.slice(0, -PID.length) + suffixes[end];
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await openFile(path, { flags: constants.O_WRONLY | constants.O_CREAT, mode: 0o600 });
  await handle.close();
}

/** By ticket and attempt: `ENG-1.2`. */
export async function endMarks(runsDir: string, orchestrator: string): Promise<Map<string, MarkedEnd>> {
  const marks = new Map<string, MarkedEnd>();
  for (const name of await namesIn(pidFolder(runsDir, orchestrator)))
    for (const end of ['hanging', 'unstartable'] as const)
      if (name.endsWith(suffixes[end])) marks.set(name.slice(0, -suffixes[end].length), end);
  return marks;
}
