// The sessions of agents that people start themselves. Hooks report what happens in them; only a change of state is an
// event. A state is shown while it is known, and `unknown` from then on:
//   hook      the agent reported it, and this daemon has run since then
//   process   the agent's process has ended without a report
//   unknown   the daemon was not running for a while, nothing was heard for an hour, or the agent went on without a report
import { type Board, type HookReport, heardFrom, type Session, sessionEvent } from '@svc/core';
import { createLimit, TooManyWaiting } from '@svc/lib/limit';
import { every } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import { gitBranch } from '../context/git-branch.ts';
import { worktreeRoot } from '../context/worktree-root.ts';
import { Failure } from '../errors.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from '../http/state-access.ts';
import type { ProcessStart, ReadProcessStarts } from '../runs/processes.ts';
import { type Signs, watchSigns } from './signs.ts';

const EVERY_MS = 1_000;
const SILENT_MS = 60 * 60_000;
const KEPT_MS = 10 * 60_000;
/** Of each session, and of all. */
const MOST_REPORTS = 100;
const MOST_PER_SECOND = 200;
const MOST_WAITING = 500;

export type HookSessions = {
  /** Resolves when what it changes is durable. */
  take: (report: HookReport) => Promise<void>;
  start: () => void;
  stop: () => Promise<void>;
};

type Shown = Parameters<typeof sessionEvent>[1];
type Memory = { reports: HookReport[]; heardAt: number; signs: Signs; reported: Shown | undefined };

export function createHookSessions(options: {
  state: StateAccess & { ready: Promise<void> };
  append: Append;
  processStarts: ReadProcessStarts;
  logger: Logger;
  /** Milliseconds of the machine's monotonic clock, as hooks report them. */
  uptimeMs?: () => number;
  everyMs?: number;
  silentMs?: number;
}): HookSessions {
  const { state, append, processStarts, logger, everyMs = EVERY_MS, silentMs = SILENT_MS } = options;
  const { uptimeMs = () => Number(process.hrtime.bigint()) / 1e6 } = options;
  const memories = new Map<string, Memory>();
  const oneAtATime = createLimit(1, MOST_WAITING);
  const isTooOften = createRate(uptimeMs);
  const onProblem = (error: unknown): void => logger.error({ err: error }, 'sessions of agents');
  let rounds: ReturnType<typeof every> | undefined;
  let stopped = false;

  async function note(report: HookReport): Promise<void> {
    const board = boardOf(state);
    const key = `${report.agent}/${report.session}`;
    if (isOfWorker(board, report)) return;
    const now = uptimeMs();
    const reports = [...(memories.get(key)?.reports ?? []), { ...report, at: Math.min(report.at, now) }]
      .toSorted((one, other) => one.at - other.at)
      .slice(-MOST_REPORTS);
    const heard = heardFrom(reports);
    const pid = reports.at(-1)?.pid;
    const signs = await watchSigns(
      reports.findLast((one) => one.transcript !== undefined)?.transcript,
      heard.state === 'needs-permission' ? pid : undefined,
    );
    const memory: Memory = { reports, heardAt: now, signs, reported: undefined };
    memories.set(key, memory);
    if (heard.folder === null || heard.state === 'unknown') return;
    const start = pid === undefined ? undefined : (await processStarts([pid])).get(pid);
    const isGone = start?.state === 'gone' && heard.state !== 'ended';
    const folder = worktreeRoot(heard.folder);
    memory.reported = {
      agent: report.agent,
      folder,
      branch: gitBranch(folder),
      pid: start?.state === 'running' ? (pid ?? null) : null,
      pidStartedAt: start?.state === 'running' ? start.mark : null,
      ...(isGone ? endedByProcess : { state: heard.state, known: 'hook', tool: heard.tool, reason: null }),
    };
    await show(key, memory.reported);
  }

  /** Logs what differs from the board. */
  async function show(key: string, shown: Shown): Promise<void> {
    const known = boardOf(state).sessions.get(key);
    const names = Object.keys(shown) as (keyof Shown)[];
    if (known !== undefined && names.every((name) => known[name] === shown[name])) return;
    // The last known process says nothing about an ended session.
    if (known?.state === 'ended' && shown.state === 'ended') return;
    await appendAndWait({ state, append }, sessionEvent(key, shown));
  }

  async function check(): Promise<void> {
    const open = [...boardOf(state).sessions].filter(([, session]) => session.state !== 'ended');
    const pids = open.flatMap(([, { pid }]) => pid ?? []);
    const starts = pids.length === 0 ? new Map<number, ProcessStart>() : await processStarts(pids);
    for (const [key, session] of open) {
      if (stopped) return;
      const news = hasEnded(session, starts) ? endedByProcess : await silence(key, session);
      if (news !== undefined) await show(key, { ...shownOf(session), ...news });
    }
    // A late report of an ended session must still find the others.
    for (const [key, { heardAt }] of memories)
      if (boardOf(state).sessions.get(key)?.state === 'ended' && uptimeMs() - heardAt > KEPT_MS)
        memories.delete(key);
  }

  /** What is shown of a session that reports nothing. */
  async function silence(key: string, session: Session): Promise<Partial<Shown> | undefined> {
    const memory = memories.get(key);
    if (memory?.reported === undefined)
      return session.state === 'unknown'
        ? undefined
        : unknown('svc was not running for a while and may have missed events');
    if (uptimeMs() - memory.heardAt > silentMs)
      return unknown(`nothing was heard of it for ${Math.round(silentMs / 60_000)} minutes`);
    const { state: reported } = memory.reported;
    if (reported === 'idle') return undefined;
    const sign = await memory.signs.look(session.agent, reported);
    return sign === null ? memory.reported : unknown(sign);
  }

  return {
    async take(report) {
      if (isTooOften()) throw tooMany();
      await oneAtATime(() => note(report)).catch((error: unknown) => {
        throw error instanceof TooManyWaiting ? tooMany() : error;
      });
    },
    start() {
      state.ready
        .then(() => {
          if (stopped) return;
          rounds = every(everyMs, () => oneAtATime(check), onProblem);
          return rounds.runNow();
        })
        // It was stopped first.
        .catch(() => undefined);
    },
    async stop() {
      stopped = true;
      await rounds?.stop();
    },
  };
}

const endedByProcess = {
  state: 'ended',
  known: 'process',
  tool: null,
  reason: 'its process has ended',
} as const;

const unknown = (reason: string) => ({ state: 'unknown', known: 'unknown', tool: null, reason }) as const;

function shownOf({ since: _since, lastSeq: _lastSeq, lastAt: _lastAt, ...shown }: Session): Shown {
  return shown;
}

function hasEnded({ pid, pidStartedAt }: Session, starts: ReadonlyMap<number, ProcessStart>): boolean {
  const start = pid === null ? undefined : starts.get(pid);
  return start?.state === 'gone' || (start?.state === 'running' && start.mark !== pidStartedAt);
}

/** An agent that svc runs is shown with its ticket. */
function isOfWorker({ workers }: Board, { session }: HookReport): boolean {
  return [...workers.values()].some(({ agent }) => agent?.sessionId === session);
}

function createRate(uptimeMs: () => number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(uptimeMs() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return count > MOST_PER_SECOND;
  };
}

function tooMany(): Failure {
  return new Failure('too-many-requests', 'Hooks report more than svc can take.', 'Try again in a second.');
}
