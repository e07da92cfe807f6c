// One agent under a fault: what it is made to do, what it wrote down, and whether what is shown equals that in time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationItem } from '../packages/monitor/src/features/agents/schemas.ts';
import { isWaiting } from '../packages/monitor/src/features/board/board-columns.ts';
import type { WorkerAgent } from '../packages/monitor/src/features/workers/agent-fields.ts';
import { type WaitingMistake, waitingMistake } from '../packages/testkit/src/state/waiting-mistake.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import type { AgentsWorld } from './agents-world.ts';
import { RUN } from './orchestrate-world.ts';

/** How long a state must stay as it is. */
const STAYS_MS = 2_500;
const LOOK_MS = 25;

export type Truth = {
  state: WorkerAgent['state'];
  open?: number;
  problem?: RegExp;
  /** It asks only for a moment: nobody has the time to handle its question. */
  isBrief?: boolean;
};
/** Steps of the protocol agent. */
export type Steps = [kind: string, value?: unknown][];
/**
 * `times`: from the truth to what is shown; `unknown`: shown as unknown when the time was over; `waits`: how often the
 * board and attention had an agent that waits, or did not, against the truth.
 */
export type Found = {
  problems: string[];
  times: number[];
  unknown: number;
  waits: Record<WaitingMistake, number>;
  /** Questions whose item a person acknowledged, snoozed and tried to resolve. */
  handled: number;
};
export type UnderFault = ReturnType<typeof putUnderFault>;

export const permission = (
  id: string | number,
  kinds = ['allow_always', 'allow_once', 'reject_once'],
): object => ({
  id,
  method: 'session/request_permission',
  params: {
    sessionId: 'session-1',
    toolCall: { toolCallId: `t${id}`, title: `touch ${id}`, kind: 'execute', status: 'pending' },
    options: kinds.map((kind) => ({ optionId: `o-${kind}`, name: kind, kind })),
  },
});

export function putUnderFault(world: AgentsWorld, ticket: string, found: Found, limitMs: number) {
  const { daemon } = world;
  let messages = 0;
  let answers = 0;
  const wrong = (problem: string): void => void found.problems.push(`${ticket}: ${problem}`);
  const received = (pattern: RegExp): string[] => world.received(ticket).filter((line) => pattern.test(line));
  const pids = (): number[] => world.processesOf(ticket);

  /** By the API and by the board; null: the daemon does not answer. `mistake`: of the board and attention together. */
  async function shown(withBoard: boolean, state: Truth['state']) {
    const view = await world.view(ticket).catch(() => null);
    const board = await daemon.board();
    const worker = board?.workers.find((one) => one.ticket === ticket);
    if (view === null || board === null || worker === undefined) return null;
    if (!withBoard) return { agents: [view.agent], mistake: null };
    return { agents: [view.agent, worker.agent], mistake: waitingMistake(board, ticket, state) };
  }
  const equals = (agent: WorkerAgent | null, { state, open, problem }: Truth): boolean =>
    agent?.state === state &&
    (open === undefined || agent.open.length === open) &&
    (problem === undefined || problem.test(agent.problem ?? ''));
  const textOf = (agents: readonly (WorkerAgent | null)[] | null): string =>
    (agents ?? [])
      .map((agent) => `${agent?.state ?? 'unknown'}/${agent?.open.length ?? 0} ${agent?.problem ?? ''}`)
      .join(', ');

  async function shows(truth: Truth, withBoard = true): Promise<void> {
    for (const since = performance.now(); ; await sleep(LOOK_MS)) {
      const { agents, mistake } = (await shown(withBoard, truth.state)) ?? { agents: null, mistake: null };
      const late = performance.now() - since;
      const isRight = agents?.every((agent) => equals(agent, truth)) === true;
      if (isRight && mistake === null && late <= limitMs) {
        found.times.push(late);
        if (withBoard && truth.open !== 0 && truth.isBrief !== true) await handle(truth.state);
        return;
      }
      if (late <= limitMs) continue;
      if (mistake !== null) {
        found.waits[mistake] += 1;
        return wrong(`after ${late.toFixed(0)} ms its question is ${mistake}: ${textOf(agents)}`);
      }
      const isUnknown = agents?.every((agent) => (agent?.state ?? null) === null || equals(agent, truth));
      if (isUnknown === true) found.unknown += 1;
      else wrong(`after ${late.toFixed(0)} ms it shows ${textOf(agents)} instead of ${truth.state}`);
      return;
    }
  }

  /** What a person may do with the open item of its question: none of it hides the question. */
  async function handle(state: Truth['state']): Promise<void> {
    const id = `${RUN}-${ticket}/${ticket}/agent-${state}`;
    const board = await daemon.board();
    if (board?.attention.some((item) => item.id === id && isWaiting(item, Date.now())) !== true) return;
    await world.insist('/api/attention/ack', { id, by: 'kim' });
    await world.insist('/api/attention/snooze', { id, by: 'kim', for: '1h' });
    const isRefused = await daemon.ask('/api/attention/resolve', { id, by: 'kim' }).then(
      () => false,
      () => true,
    );
    if (!isRefused) wrong(`${id} was resolved while its cause existed`);
    found.handled += 1;
    const mistake = (await shown(true, state))?.mistake ?? null;
    if (mistake === null) return;
    found.waits[mistake] += 1;
    wrong(`its question is ${mistake} after a person acknowledged and snoozed it`);
  }

  async function send(text: string): Promise<void> {
    messages += 1;
    await world.message(ticket, text, `${ticket}/${messages}`);
  }

  const takes = async (start: string): Promise<unknown> =>
    until(() => world.received(ticket).some((line) => line.startsWith(start)));

  /** Until it got them; with `noted`, until it wrote that down. */
  async function take(steps: Steps, noted = 'prompt do '): Promise<void> {
    await send(`do ${JSON.stringify(steps)}`);
    await takes(noted);
  }

  function kill(signal: NodeJS.Signals, who: 'agent' | 'feeder' = 'agent'): void {
    const pid = world.processOf(ticket, who);
    if (pid === undefined) throw new Error(`${ticket} has no ${who}`);
    process.kill(pid, signal);
  }

  return {
    ticket,
    sentFile: (): string => world.sentFile(ticket),
    journalFile: (): string => world.journalFile(ticket),
    recordFile: (): string => world.recordFile(ticket),
    pids,
    kill,
    send,
    take,
    takes,
    shows,
    received,
    /** Every turn was answered by the agent. */
    turnsOver: (): Promise<unknown> =>
      until(() => {
        const ends = world.linesIn(world.journalFile(ticket)).filter((line) => line.includes('"stopReason"'));
        return ends.length === received(/^prompt /).length;
      }),
    async stays(truth: Truth): Promise<void> {
      for (const end = performance.now() + STAYS_MS; performance.now() < end; await sleep(LOOK_MS)) {
        const now = await shown(true, truth.state);
        const mistake = now?.mistake ?? null;
        const isRight = now?.agents.every((agent) => (agent?.state ?? null) === null || equals(agent, truth));
        if (isRight === true && mistake === null) continue;
        if (mistake !== null) found.waits[mistake] += 1;
        return wrong(`it does not stay ${truth.state}: ${textOf(now?.agents ?? null)} ${mistake ?? ''}`);
      }
    },
    /** Asks for a permission in its turn. */
    async asks(id: string, ...rest: Steps): Promise<void> {
      await take([['line', permission(id)], ...rest]);
      await shows({ state: 'needs-permission', open: 1 });
    },
    async answer(request: string, answer: string, more: object = {}): Promise<void> {
      answers += 1;
      await world.answer(ticket, request, answer, { ...more, key: `${ticket} answer ${answers}` });
    },
    stop: (): Promise<unknown> => world.insist(`/api/workers/${ticket}/agent/stop`, { by: 'kim' }),
    async restartDaemon(between = (): void => undefined): Promise<void> {
      await daemon.kill();
      between();
      daemon.start();
      await daemon.ready();
    },
    /** The agent is killed, started again, and idle. */
    async revive(): Promise<void> {
      kill('SIGKILL');
      await shows({ state: 'ended' });
      await until(() => world.received(ticket).length > 0 && pids().length > 0);
      await until(async () =>
        (await shown(true, 'idle'))?.agents.every((agent) => agent?.attempt === 2 && agent.state === 'idle'),
      );
    },
    got(pattern: RegExp, count: number): void {
      const lines = received(pattern);
      if (lines.length !== count)
        wrong(`the agent got ${String(pattern)} ${lines.length} times, not ${count}`);
    },
    async says(text: string): Promise<void> {
      const { items } = await world.view(ticket);
      const isMessage = (item: ConversationItem) => item.kind === 'message' && item.text === text;
      if (items.filter(isMessage).length !== 1)
        wrong(`the conversation does not have ${text.slice(0, 40)} once`);
    },
    /** How many lines of that event the log has, of those that match. */
    logged(
      event: string,
      count: number,
      matches: (detail: Record<string, unknown>) => boolean = () => true,
    ): void {
      const lines = world.events().filter((line) => line.event === event && line.scope.ticket === ticket);
      const matching = lines.filter(({ detail }) => matches(detail)).length;
      if (matching !== count) wrong(`the log has ${matching} ${event}, not ${count}`);
    },
    start: (): Promise<void> => world.startRun([ticket], `${RUN}-${ticket}`),
    end: (): Promise<unknown> => world.insist(`/api/runs/${RUN}-${ticket}/cancel`, { by: 'kim' }),
  };
}
