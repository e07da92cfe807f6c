// A run after one more event: its own, one of a wave, or the first of a worker of an unannounced run.
import { type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { short, textsIn, withEntry } from '../../kernel/board/line-values.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { isIn } from '../../kernel/log/typed-line.ts';
import type { Worker } from '../workers/worker.ts';
import type { Blockers, RunPlan } from './plan.ts';
import type { Run } from './run.ts';

const MOST_TICKETS = 1000;
const MOST_WAVES = 200;

type RunLine = LineOf<Extract<Topic, `orchestrator.run.${string}`>>;
type WaveLine = LineOf<Extract<Topic, `orchestrator.wave.${string}`>>;

export function reduceRun(known: Run | undefined, line: LineOf): Run | undefined {
  const { orchestrator } = line.scope;
  if (orchestrator === undefined) return known;
  const before = known ?? unknownRun(orchestrator, line);
  const next = afterLine(before, line);
  return next === undefined ? known : { ...next, lastSeq: line.seq, lastAt: line.ts };
}

function afterLine(before: Run, line: LineOf): Run | undefined {
  if (isIn(line, 'orchestrator.run')) return afterOwnLine(before, line);
  if (isIn(line, 'orchestrator.wave')) return afterWave(before, line);
  if (line.event === 'orchestrator.worker.retried') return reopened(before, line);
  const { ticket = '' } = line.scope;
  return isIn(line, 'orchestrator.worker') ? withTickets(before, textsIn([ticket])) : undefined;
}

/** A person restarts a ticket: the run resumes at the wave of the ticket. Only a person can do that. */
function reopened(before: Run, { scope: { ticket = '' }, seq }: LineOf<'orchestrator.worker.retried'>): Run {
  const wave = (before.plan?.waves.findIndex((tickets) => tickets.includes(ticket)) ?? -1) + 1;
  const waves = before.waves.map((one) =>
    one.wave === wave && one.state === 'completed' ? { ...one, state: 'started' as const, seq } : one,
  );
  return isRunOver(before) ? { ...before, waves, state: 'running', endedAt: null } : { ...before, waves };
}

/** A finished run that we orchestrated is not reopened by a run event, because a helper could report one. */
function isRunOver({ plan, state }: Run): boolean {
  return plan !== null && (state === 'completed' || state === 'canceled');
}

function afterOwnLine(before: Run, line: RunLine): Run | undefined {
  const { detail, ts } = line;
  if (isRunOver(before)) return undefined;
  const named: Run = {
    ...withTickets(before, textsIn(detail.tickets)),
    name: short(detail.name) ?? before.name,
    maxParallel: detail.maxParallel ?? before.maxParallel,
    plan: before.plan ?? planIn(line),
    blockedBy: blockersIn(detail.blockedBy) ?? before.blockedBy,
  };
  switch (line.event) {
    case 'orchestrator.run.started':
      return { ...named, state: 'running', startedAt: before.startedAt ?? ts, endedAt: null };
    case 'orchestrator.run.resumed':
      return { ...named, state: 'running', endedAt: null };
    case 'orchestrator.run.paused':
      return { ...named, state: 'paused' };
    case 'orchestrator.run.completed':
      return { ...named, state: 'completed', endedAt: ts };
    case 'orchestrator.run.canceled':
      return { ...named, state: 'canceled', endedAt: ts };
  }
}

/** The daemon orchestrates a run by the plan that it was started with; without a plan it does not. */
function planIn({ event, detail }: RunLine): RunPlan | null {
  if (event !== 'orchestrator.run.started') return null;
  const { plan, project, maxParallel } = detail;
  const base = short(detail.base);
  const workerCommand = short(detail.workerCommand);
  const workerModel = short(detail.workerModel);
  if (plan === undefined || !project || base === undefined) return null;
  if (workerCommand === undefined || workerModel === undefined || maxParallel === undefined) return null;
  const waves = plan.slice(0, MOST_WAVES).map((tickets) => textsIn(tickets));
  const tickets = new Set(waves.flat());
  const agents = Object.entries(detail.agents ?? {}).filter(([ticket]) => tickets.has(ticket));
  return {
    waves,
    project,
    base,
    workerCommand,
    workerModel,
    maxParallel,
    ...(detail.agent !== undefined && { agent: detail.agent.slice(0, 100) }),
    ...(detail.model !== undefined && { model: detail.model.slice(0, 200) }),
    ...(detail.mode !== undefined && { mode: detail.mode.slice(0, 200) }),
    ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
  };
}

function blockersIn(blockedBy: Blockers = {}): Blockers | undefined {
  const entries = Object.entries(blockedBy)
    .slice(0, MOST_TICKETS)
    .map(([ticket, blockers]) => [ticket, textsIn(blockers)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const waveStates = {
  'orchestrator.wave.started': 'started',
  'orchestrator.wave.completed': 'completed',
  'orchestrator.wave.blocked': 'blocked',
} as const;

function afterWave(before: Run, line: WaveLine): Run | undefined {
  const { wave } = line.detail;
  if (wave === undefined) return undefined;
  const tickets = textsIn(line.detail.tickets);
  const known = before.waves.find((other) => other.wave === wave);
  const entry = {
    wave,
    state: waveStates[line.event],
    tickets: tickets.length > 0 ? tickets : (known?.tickets ?? []),
    seq: line.seq,
  };
  const waves = withEntry(before.waves, (other) => other.wave === wave, entry, MOST_WAVES);
  return { ...withTickets(before, tickets), waves };
}

function withTickets(run: Run, tickets: readonly string[]): Run {
  const added = tickets.filter((ticket) => !run.tickets.includes(ticket));
  if (added.length === 0 || run.tickets.length >= MOST_TICKETS) return run;
  return { ...run, tickets: [...run.tickets, ...new Set(added)].slice(0, MOST_TICKETS) };
}

function unknownRun(orchestrator: string, line: LineOf): Run {
  return {
    orchestrator,
    name: null,
    state: 'unknown',
    startedAt: null,
    endedAt: null,
    tickets: [],
    plan: null,
    blockedBy: null,
    maxParallel: null,
    waves: [],
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

/** A worker of the run has a line. */
export function touchRun({ board, line }: FoldContext, worker: Worker, known: Worker | undefined): Worker {
  const { orchestrator } = worker;
  const run = board.runs.get(orchestrator);
  const isNews = known === undefined || line.event === 'orchestrator.worker.retried';
  const next =
    run === undefined || isNews ? reduceRun(run, line) : { ...run, lastSeq: line.seq, lastAt: line.ts };
  if (next !== undefined) board.runs.set(orchestrator, next);
  return worker;
}

function foldRun({ board, line }: FoldContext<(RunLine | WaveLine)['event']>): void {
  const { orchestrator } = line.scope;
  if (orchestrator === undefined) return;
  const run = reduceRun(board.runs.get(orchestrator), line);
  if (run !== undefined) board.runs.set(orchestrator, run);
}

export const runFolds: readonly Fold[] = [
  on(
    [
      ...topicsIn('orchestrator.run', ['started', 'paused', 'resumed', 'completed', 'canceled']),
      ...topicsIn('orchestrator.wave', ['started', 'completed', 'blocked']),
    ],
    foldRun,
  ),
];
