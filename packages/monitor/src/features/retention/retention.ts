// Which old data may be removed: a worktree, a run, the journals of a run, an archive or a log. Everything is kept unless
// it is known to be old enough, unused and saved elsewhere, and no open attention item is about it.
import { shownStatus } from '@svc/contract/worker-statuses';
import type { Board } from '../../kernel/board/board.ts';
import { whyNotEnded } from '../archive/archive-rules.ts';
import type { AttentionItem } from '../attention/attention-item.ts';
import type { Config } from '../config.ts';
import type { Run } from '../runs/run.ts';
import type { Session } from '../sessions/session.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import type { retentionKinds } from './topics.ts';

type RetentionKind = (typeof retentionKinds)[number];

/** The key and the value of each kind's policy. */
export function retentionPolicy(
  config: Config,
  kind: RetentionKind,
): { setting: string; days: number | null } {
  const { worktreeDays, runDays, journalDays, logDays } = config.svc.retention;
  switch (kind) {
    case 'worktrees':
      return { setting: 'svc.retention.worktreeDays', days: worktreeDays };
    case 'runs':
      return { setting: 'svc.retention.runDays', days: runDays };
    case 'journals':
      return { setting: 'svc.retention.journalDays', days: journalDays };
    case 'logs':
      return { setting: 'svc.retention.logDays', days: logDays };
    case 'archives':
      return { setting: 'archive.retention.days', days: config.archive.retention.days };
    case 'event log':
      return { setting: '', days: null };
  }
}

/** What is known about one thing. A list has the reasons to keep it; null: unknown. */
export type RetentionFacts = {
  /** The key of its policy, and the age in days after which it is removed; null: never. */
  setting: string;
  days: number | null;
  /** Milliseconds since 1970. */
  changedAt: number | null;
  inUse: readonly string[] | null;
  attention: readonly string[] | null;
  /** What would be lost. */
  unsaved: readonly string[] | null;
};

export type RetentionVerdict = { remove: boolean; reason: string };

const DAY_MS = 86_400_000;

const keep = (reason: string): RetentionVerdict => ({ remove: false, reason });

export function judgeRetention(facts: RetentionFacts, now: number): RetentionVerdict {
  const { setting, days, changedAt, inUse, attention, unsaved } = facts;
  if (days === null) return keep(`${setting} is null (never)`);
  if (changedAt === null || !Number.isFinite(changedAt)) return keep('unknown: when it last changed');
  const age = Math.floor((now - changedAt) / DAY_MS);
  // Written so that no number that cannot be compared removes anything.
  if (!(days >= 1 && now - changedAt >= days * DAY_MS)) return keep(`younger than ${days} d (${setting})`);
  if (inUse === null) return keep('unknown: whether it is in use');
  if (inUse.length > 0) return keep(inUse.join('; '));
  if (attention === null) return keep('unknown: whether something about it needs attention');
  if (attention.length > 0) return keep(`needs attention: ${attention.join(', ')}`);
  if (unsaved === null) return keep('unknown: whether something would be lost');
  if (unsaved.length > 0) return keep(`would be lost: ${unsaved.join('; ')}`);
  return { remove: true, reason: `unchanged for ${age} d (${setting}: ${days})` };
}

/** The log has a gap of this length before the last day: this machine was off, or its clock is wrong. */
const CLOCK_GAP_MS = 7 * DAY_MS;
/** How old the newest event must be that shows what the clock was before. */
export const CLOCK_PROOF_MS = DAY_MS;

/**
 * Why nothing is removed now: a clock that is ahead makes everything look old. `newest` is the time of the newest event
 * that is at least a day old; null when there is none, undefined when that is unknown.
 */
export function clockDoubt(newest: number | null | undefined, now: number): string | null {
  if (newest === null) return null;
  if (newest === undefined || Number.isNaN(newest)) return 'unknown: whether the clock is right';
  if (now - newest <= CLOCK_GAP_MS) return null;
  const days = Math.floor((now - newest) / DAY_MS);
  return `the clock may be wrong: there is no event for ${days} d before the last day. Check it (date); old data can be removed when events have been logged for a day`;
}

/** What the board knows about it. */
export type BoardFacts = Pick<RetentionFacts, 'changedAt' | 'inUse' | 'attention'>;

const unknown: BoardFacts = { changedAt: null, inUse: null, attention: null };

/** Everything is unknown about a run that is not on the board. */
export function retentionOfRun(board: Board, orchestrator: string, now: number): BoardFacts {
  const run = board.runs.get(orchestrator);
  const workers = [...board.workers.values()].filter((worker) => worker.orchestrator === orchestrator);
  if (run === undefined && workers.length === 0) return unknown;
  const tickets = new Set([...(run?.tickets ?? []), ...workers.map(({ ticket }) => ticket)]);
  return {
    changedAt: latest([run, ...workers]),
    inUse: usesOfRun(run, workers, now),
    attention: itemsOf(board, (item) =>
      item.orchestrator === null
        ? item.ticket !== null && tickets.has(item.ticket)
        : item.orchestrator === orchestrator,
    ),
  };
}

function usesOfRun(run: Run | undefined, workers: readonly Worker[], now: number): string[] | null {
  const statuses = workers.map(({ corrupt, status }) => (corrupt === null ? status : null));
  const changedAt = latest([run, ...workers]) ?? now;
  const state = run?.state ?? 'unknown';
  const isOpen = state === 'running' || state === 'paused';
  const open = isOpen ? `it is ${state}` : whyNotEnded({ state, statuses, changedAt }, now);
  const uses = [
    ...(open === undefined ? [] : [`the run has not ended: ${open}`]),
    ...workers.flatMap(usesOf),
  ];
  // The process of a signal file without a pid is never known, and there is none.
  const isUnknown = workers.some(
    ({ process, signal }) => process.state === 'unknown' && typeof signal?.pid === 'number',
  );
  return uses.length === 0 && isUnknown ? null : uses;
}

function usesOf({ ticket, status, process, recall, verification }: Worker): string[] {
  return [
    ...(isEnded(status) ? [] : [`${ticket} is ${shownStatus(status)}`]),
    ...(process.state === 'alive' ? [`the agent of ${ticket} is running`] : []),
    ...(recall === null ? [] : [`the agent of ${ticket} is about to start`]),
    ...(verification?.state === 'running' ? [`${ticket} is being verified`] : []),
  ];
}

/** Only the runs that used the worktree are known to need it no longer. */
export function retentionOfWorktree(
  board: Board,
  { name, path }: { name: string; path: string },
  now: number,
): BoardFacts & { orchestrators: string[] } {
  const owners = [...board.workers.values()].filter(({ signal }) => signal?.worktreePath === path);
  const orchestrators = [...new Set(owners.map(({ orchestrator }) => orchestrator))];
  const runs = orchestrators.map((orchestrator) => retentionOfRun(board, orchestrator, now));
  const sessions = [...board.sessions].filter(([, { folder }]) => isWithin(path, folder));
  const uses = runs.map(({ inUse }) => inUse);
  const others = [
    ...(owners.length === 0 ? ['no run is known to have used it'] : []),
    ...planned(board, name).map((orchestrator) => `the run ${orchestrator} has this ticket`),
    ...sessions.flatMap(([key, { state }]) => (state === 'ended' ? [] : [`the session ${key} is ${state}`])),
  ];
  const known = uses.flatMap((reasons) => reasons ?? []);
  const keys = new Set(sessions.map(([key]) => key));
  const items = itemsOf(
    board,
    ({ ticket, session }) => ticket === name || (session !== null && keys.has(session)),
  );
  return {
    orchestrators,
    changedAt: latest([...owners, ...sessions.map(([, session]) => session)], runs),
    inUse: uses.includes(null) && known.length + others.length === 0 ? null : [...others, ...known],
    attention: [...new Set([...items, ...runs.flatMap(({ attention }) => attention ?? [])])],
  };
}

/** Runs that still work on a ticket of that name, in whichever project. */
function planned(board: Board, ticket: string): string[] {
  return [...board.runs.values()]
    .filter(({ state, tickets }) => (state === 'running' || state === 'paused') && tickets.includes(ticket))
    .map(({ orchestrator }) => orchestrator);
}

/** The archive may be old while its run goes on, or needs a person. */
export function retentionOfArchive(board: Board, orchestrator: string, archivedAt: string): BoardFacts {
  const state = board.runs.get(orchestrator)?.state;
  return {
    changedAt: Date.parse(archivedAt),
    inUse: state === 'running' || state === 'paused' ? [`the run is ${state}`] : [],
    attention: itemsOf(board, (item) => item.orchestrator === orchestrator),
  };
}

function itemsOf({ attention }: Board, isAbout: (item: AttentionItem) => boolean): string[] {
  return [...attention.values()].filter(isAbout).map(({ id }) => id);
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function latest(
  entities: readonly (Pick<Run | Worker | Session, 'lastAt'> | undefined)[],
  more: readonly Pick<BoardFacts, 'changedAt'>[] = [],
): number | null {
  const times = [
    ...entities.flatMap((entity) => (entity === undefined ? [] : Date.parse(entity.lastAt))),
    ...more.map(({ changedAt }) => changedAt ?? Number.NaN),
  ];
  return times.length === 0 || times.some(Number.isNaN) ? null : Math.max(...times);
}
