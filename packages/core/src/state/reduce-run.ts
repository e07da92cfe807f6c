// A run after one more line: its own, one of its waves, or the first of a worker that nobody had announced.
import type { Blockers, RunPlan } from '../orchestrate/plan.ts';
import { integerAt, textAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { shortTextAt, textsIn, withEntry } from './line-fields.ts';
import type { Run } from './run.ts';

const MOST_TICKETS = 1000;
const MOST_WAVES = 200;

export function reduceRun(known: Run | undefined, line: FoldedLine): Run | undefined {
  const { orchestrator } = line.scope;
  if (orchestrator === undefined) return known;
  const before = known ?? unknownRun(orchestrator, line);
  const next = afterLine(before, line);
  return next === undefined ? known : { ...next, lastSeq: line.seq, lastAt: line.ts };
}

function afterLine(before: Run, line: FoldedLine): Run | undefined {
  const { event } = line;
  if (event.startsWith('orchestrator.run.')) return afterOwnLine(before, line);
  if (event.startsWith('orchestrator.wave.')) return afterWave(before, line);
  if (event === 'orchestrator.worker.retried') return reopened(before, line);
  if (event.startsWith('orchestrator.worker.')) return withTickets(before, textsIn([line.scope.ticket]));
  return undefined;
}

/** A person starts a ticket of it again: the run goes on, at the wave of the ticket. Only a person's word does that. */
function reopened(before: Run, { scope: { ticket = '' }, seq }: FoldedLine): Run {
  const wave = (before.plan?.waves.findIndex((tickets) => tickets.includes(ticket)) ?? -1) + 1;
  const waves = before.waves.map((one) =>
    one.wave === wave && one.state === 'completed' ? { ...one, state: 'started' as const, seq } : one,
  );
  return isOver(before) ? { ...before, waves, state: 'running', endedAt: null } : { ...before, waves };
}

/** One that was conducted here and is over does not begin again by a line of its own, which a helper could report. */
function isOver({ plan, state }: Run): boolean {
  return plan !== null && (state === 'completed' || state === 'canceled');
}

function afterOwnLine(before: Run, line: FoldedLine): Run | undefined {
  const { detail, ts } = line;
  if (isOver(before)) return undefined;
  const named: Run = {
    ...withTickets(before, textsIn(detail['tickets'])),
    name: shortTextAt(detail, 'name') ?? before.name,
    maxParallel: integerAt(detail, 'maxParallel') ?? before.maxParallel,
    plan: before.plan ?? planIn(line),
    blockedBy: blockersIn(detail['blockedBy']) ?? before.blockedBy,
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
    default:
      return undefined;
  }
}

/** A run is conducted by the plan that it was started with; without one nobody here conducts it. */
function planIn({ event, detail }: FoldedLine): RunPlan | null {
  if (event !== 'orchestrator.run.started') return null;
  const project = textAt(detail, 'project');
  const base = shortTextAt(detail, 'base');
  const workerCommand = shortTextAt(detail, 'workerCommand');
  const workerModel = shortTextAt(detail, 'workerModel');
  const maxParallel = integerAt(detail, 'maxParallel');
  const { plan } = detail;
  if (!Array.isArray(plan) || project === undefined || base === undefined) return null;
  if (workerCommand === undefined || workerModel === undefined || maxParallel === undefined) return null;
  const waves = plan.slice(0, MOST_WAVES).map(textsIn);
  return { waves, project, base, workerCommand, workerModel, maxParallel };
}

function blockersIn(value: unknown): Blockers | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value)
    .slice(0, MOST_TICKETS)
    .map(([ticket, blockers]) => [ticket, textsIn(blockers)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function afterWave(before: Run, line: FoldedLine): Run | undefined {
  const wave = integerAt(line.detail, 'wave');
  const state = waveStateIn(line.event);
  if (wave === undefined || state === undefined) return undefined;
  const tickets = textsIn(line.detail['tickets']);
  const known = before.waves.find((other) => other.wave === wave);
  const entry = {
    wave,
    state,
    tickets: tickets.length > 0 ? tickets : (known?.tickets ?? []),
    seq: line.seq,
  };
  const waves = withEntry(before.waves, (other) => other.wave === wave, entry, MOST_WAVES);
  return { ...withTickets(before, tickets), waves };
}

function waveStateIn(event: string): Run['waves'][number]['state'] | undefined {
  if (event === 'orchestrator.wave.started') return 'started';
  if (event === 'orchestrator.wave.completed') return 'completed';
  return event === 'orchestrator.wave.blocked' ? 'blocked' : undefined;
}

function withTickets(run: Run, tickets: readonly string[]): Run {
  const added = tickets.filter((ticket) => !run.tickets.includes(ticket));
  if (added.length === 0 || run.tickets.length >= MOST_TICKETS) return run;
  return { ...run, tickets: [...run.tickets, ...new Set(added)].slice(0, MOST_TICKETS) };
}

function unknownRun(orchestrator: string, line: FoldedLine): Run {
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
