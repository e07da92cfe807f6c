// The sessions of agents that people start themselves. Hooks report what happens in them; only a change of state is an
// event. A state is shown while it is known, and `unknown` from then on:
//   hook      the agent reported it, and this daemon has run since then
//   process   the agent's process has ended without a report
//   unknown   the daemon was not running for a while, nothing was heard for an hour, or the agent went on without a report
// A permission request can be answered while a hook of the agent waits for the answer: until a person has answered, here or
// at the terminal, until the hook has ended, or until the time is over. Only the answer of a person is ever returned.
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '@svc/lib/errors';
import { createLimit, TooManyWaiting } from '@svc/lib/limit';
import { every } from '@svc/lib/rounds';
import type { ProcessStart, ReadProcessStarts } from '@svc/lib/system';
import type { Logger } from 'pino';
import type { Board } from '../../../kernel/board/board.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from '../../../kernel/board/state-access.ts';
import { gitBranch, worktreeRoot } from '../../../kernel/disk/git-folder.ts';
import { Failure } from '../../../kernel/failure.ts';
import { draft } from '../../../kernel/log/event-line.ts';
import { type hookAnswers } from '../../agents/request-limit.ts';
import type { AgentRequest } from '../../workers/agent-fields.ts';
import { sessionEvent } from '../fold-session.ts';
import { ANSWER_WITHIN_MS } from '../hook-event.ts';
import { type HookAsk, type HookReport, heardFrom, type NotedReport, requestOf } from '../hooks.ts';
import type { Session } from '../session.ts';
import { type Signs, watchSigns } from './signs.ts';

const EVERY_MS = 1_000;
const SILENT_MS = 60 * 60_000;
const KEPT_MS = 10 * 60_000;
/** The first is for each session, the others are for all together. */
const MOST_REPORTS = 100;
const MOST_PER_SECOND = 200;
const MOST_WAITING = 500;
const MOST_ASKS = 50;

export type HookSessions = {
  /** Resolves when what it changes is durable. */
  take: (report: HookReport) => Promise<void>;
  /** Resolves to the answer of a person; to null when there is none in time, or when the signal is aborted. */
  ask: (ask: HookAsk, signal: AbortSignal) => Promise<HookAnswer | null>;
  /** Resolves when the answer is durable and on its way. */
  answer: (given: { session: string; request: string; answer: HookAnswer; by: string }) => Promise<void>;
  /** Why sessions are not up to date. */
  problem: () => string | null;
  start: () => void;
  stop: () => Promise<void>;
};

type HookAnswer = (typeof hookAnswers)[number];
type Shown = Parameters<typeof sessionEvent>[1];
type Memory = { reports: NotedReport[]; heardAt: number; signs: Signs; reported: Shown | undefined };
/** A hook that waits. `found`: the report of the same event. */
type Waiter = {
  key: string;
  ask: HookAsk;
  shown: AgentRequest;
  found?: NotedReport | undefined;
  end: (answer: HookAnswer | null) => void;
};

export function createHookSessions(options: {
  state: StateAccess & { ready: Promise<void> };
  append: Append;
  processStarts: ReadProcessStarts;
  logger: Logger;
  /** Milliseconds of the machine's monotonic clock, as hooks report them. */
  uptimeMs?: () => number;
  everyMs?: number;
  answerWithinMs?: number;
}): HookSessions {
  const { state, append, processStarts, logger, everyMs = EVERY_MS } = options;
  const { answerWithinMs = ANSWER_WITHIN_MS } = options;
  const { uptimeMs = () => Number(process.hrtime.bigint()) / 1e6 } = options;
  const memories = new Map<string, Memory>();
  const waiters = new Map<string, Waiter>();
  const oneAtATime = createLimit(1, MOST_WAITING);
  const isTooOften = createRate(uptimeMs);
  const onProblem = (error: unknown): void => {
    logger.error({ err: error }, 'sessions of agents');
    problem = messageOf(error);
  };
  let problem: string | null = null;
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
    await tell(key, report.agent, reports);
  }

  /** Shows what the reports add up to. */
  async function tell(key: string, agent: Shown['agent'], reports: NotedReport[]): Promise<void> {
    const heard = heardFrom(reports);
    const pid = reports.at(-1)?.pid;
    const signs = await watchSigns(
      reports.findLast((one) => one.transcript !== undefined)?.transcript,
      heard.state === 'needs-permission' ? pid : undefined,
    );
    const memory: Memory = { reports, heardAt: uptimeMs(), signs, reported: undefined };
    memories.set(key, memory);
    if (heard.folder === null || heard.state === 'unknown') return;
    const start = pid === undefined ? undefined : (await processStarts([pid])).get(pid);
    const isGone = start?.state === 'gone' && heard.state !== 'ended';
    const folder = await worktreeRoot(heard.folder);
    const branch = await gitBranch(folder);
    // Last, because a hook may come or go meanwhile.
    const open = openRequests(key, heard.asks);
    memory.reported = {
      agent,
      folder,
      branch,
      pid: start?.state === 'running' ? (pid ?? null) : null,
      pidStartedAt: start?.state === 'running' ? start.mark : null,
      ...(isGone
        ? endedByProcess
        : { state: heard.state, known: 'hook', tool: heard.tool, reason: null, open }),
    };
    await show(key, memory.reported);
  }

  /** Logs what differs from the board. */
  async function show(key: string, shown: Shown): Promise<void> {
    const known = boardOf(state).sessions.get(key);
    const names = Object.keys(shown) as (keyof Shown)[];
    if (known !== undefined && names.every((name) => isDeepStrictEqual(known[name], shown[name]))) return;
    // The last known process says nothing about an ended session.
    if (known?.state === 'ended' && shown.state === 'ended') return;
    await appendAndWait({ state, append }, sessionEvent(key, shown));
  }

  /** The requests that can be answered: a hook waits, and the agent has not gone on. */
  function openRequests(key: string, asks: readonly NotedReport[]): AgentRequest[] {
    const left = new Set(asks);
    const open: AgentRequest[] = [];
    for (const waiter of [...waiters.values()].filter((one) => one.key === key)) {
      const { found, ask, shown, end } = waiter;
      const isSame = ({ tool, call }: HookReport): boolean => tool === ask.tool && call === ask.call;
      waiter.found = found ?? [...left].find(isSame);
      if (waiter.found !== undefined && left.delete(waiter.found)) open.push(shown);
      // It was answered at the terminal.
      else if (found !== undefined) end(null);
    }
    return open;
  }

  /** What can be answered has changed; the next check shows it. */
  function updateOpen(key: string): void {
    const memory = memories.get(key);
    if (memory?.reported === undefined || memory.reported.state === 'ended') return;
    memory.reported = { ...memory.reported, open: openRequests(key, heardFrom(memory.reports).asks) };
  }

  async function answer(given: Parameters<HookSessions['answer']>[0]): Promise<void> {
    const { session: key, request, answer: decision, by } = given;
    const session = boardOf(state).sessions.get(key);
    const waiter = waiters.get(request);
    const memory = memories.get(key);
    const isOpen = session?.open.some((one) => one.request === request) && waiter?.key === key;
    if (!isOpen || waiter === undefined || memory === undefined) throw notOpen(key, session);
    // From here on nobody else can answer it, and it does not end by time.
    waiters.delete(request);
    const { tool } = waiter.ask;
    const line = draft('session.answered', { session: key }, { request, tool, answer: decision, by });
    await append(line).catch((error: unknown) => {
      waiter.end(null);
      throw error;
    });
    waiter.end(decision);
    const reports = memory.reports.map((one) => (one === waiter.found ? { ...one, answered: true } : one));
    // It is given; what the board shows is corrected by the next check.
    await tell(key, waiter.ask.agent, reports).catch(onProblem);
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
    problem = null;
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
    if (uptimeMs() - memory.heardAt > SILENT_MS)
      return unknown(`nothing was heard of it for ${Math.round(SILENT_MS / 60_000)} minutes`);
    const { state: reported } = memory.reported;
    if (reported === 'idle') return undefined;
    const sign = await memory.signs.look(session.agent, reported);
    return sign === null ? memory.reported : unknown(sign);
  }

  const inOrder = (work: () => Promise<void>): Promise<void> =>
    oneAtATime(work).catch((error: unknown) => {
      throw error instanceof TooManyWaiting ? tooMany() : error;
    });

  return {
    async take(report) {
      if (isTooOften()) throw tooMany();
      await inOrder(() => note(report));
    },
    async ask(ask, signal) {
      if (isTooOften() || waiters.size >= MOST_ASKS) throw tooMany();
      if (stopped || signal.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<HookAnswer | null>();
      const request = crypto.randomUUID();
      const key = `${ask.agent}/${ask.session}`;
      const end = (given: HookAnswer | null): void => {
        waiters.delete(request);
        resolve(given);
      };
      const giveUp = (): void => {
        if (waiters.has(request)) end(null);
      };
      waiters.set(request, { key, ask, shown: requestOf(request, ask), end });
      const timer = setTimeout(giveUp, answerWithinMs);
      signal.addEventListener('abort', giveUp);
      updateOpen(key);
      const given = await promise;
      clearTimeout(timer);
      updateOpen(key);
      return given;
    },
    answer: (given) => inOrder(() => answer(given)),
    problem: () => problem,
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
      for (const { end } of waiters.values()) end(null);
      await rounds?.stop();
    },
  };
}

const endedByProcess = {
  state: 'ended',
  known: 'process',
  tool: null,
  reason: 'its process has ended',
  open: [] as AgentRequest[],
} as const;

const unknown = (reason: string) =>
  ({ state: 'unknown', known: 'unknown', tool: null, reason, open: [] as AgentRequest[] }) as const;

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

function notOpen(key: string, session: Session | undefined): Failure {
  if (session === undefined)
    return new Failure('not-allowed-now', `There is no session ${key}.`, 'See: svc board');
  return new Failure(
    'not-allowed-now',
    `The request of ${key} is not open: it was answered, or the agent no longer waits for svc.`,
    `If the agent still asks, answer it in the terminal in which it runs: ${session.folder}`,
  );
}
