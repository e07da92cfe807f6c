// Events of agents: what the agent of a worker is doing, as its events report it.

import { isAgentsWork } from '@svc/contract/worker-statuses';
import { type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { short, timeOf } from '../../kernel/board/line-values.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import type { WorkerAgent } from '../workers/agent-fields.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { putWorker } from '../workers/slice.ts';
import type { Worker } from '../workers/worker.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import { spentAfter } from './cost.ts';
import { limitAfter, pausedBy } from './limits.ts';

type AgentTopic = Extract<Topic, `agent.${string}`>;
const MOST_OPEN = 50;

function foldAgent(context: FoldContext<AgentTopic>): void {
  const { board, line } = context;
  const { orchestrator, ticket } = line.scope;
  // Only the daemon talks to agents.
  if (line.source !== 'orchestrator' || orchestrator === undefined || ticket === undefined) return;
  const worker = board.workers.get(workerKey(orchestrator, ticket));
  const agent = worker && after(worker.agent, line);
  if (worker === undefined || agent === undefined || agent === worker.agent) return;
  // A message that the agent gets fulfils the recall.
  const recall = line.event === 'agent.turn.started' ? null : worker.recall;
  // It goes on: its claim is looked at again after the next poll.
  const unseenSeq = line.event === 'agent.turn.started' ? null : worker.unseenSeq;
  const spent = spentOf(worker, agent, line);
  const next: Worker = { ...worker, agent, recall, unseenSeq, spent, lastSeq: line.seq, lastAt: line.ts };
  if (line.event === 'agent.limit.over') Object.assign(next, afterLimit(next, line));
  // The next start of its process is not a revival.
  if (line.event === 'agent.suspended') next.recalls += 1;
  putWorker(board, withOwnAttention(context, next));
}

/** All attempts of a command line write to one file, and report its sum. */
function spentOf({ spent }: Worker, agent: WorkerAgent, line: LineOf<AgentTopic>): Worker['spent'] {
  if (line.event !== 'agent.turn.ended' && line.event !== 'agent.usage') return spent;
  const { attempt, protocol, costOf, sessionId, tokens, cost, model } = agent;
  const usd = cost?.currency === 'USD' ? cost.amount : null;
  const isUnknown = usd === null && tokens === null;
  // A turn that was refused may have cost nothing.
  if (isUnknown && (line.event === 'agent.usage' || line.detail.ok === false)) return spent;
  const sum = !protocol ? 'command line' : costOf === 'session' ? sessionId : null;
  return spentAfter(spent, { attempt, sum, usd, tokens, model }, line.ts);
}

/** A process that has ended is started again, which is not a revival. */
function afterLimit({ agent, status, recall, recalls }: Worker, { ts: at, seq }: LineOf): Partial<Worker> {
  if (agent?.protocol === true && agent.state !== 'ended') return {};
  return isAgentsWork(status)
    ? { recalls: recalls + 1 }
    : { recall: recall ?? { cause: 'message', at, seq } };
}

function after(before: WorkerAgent | null, line: LineOf<AgentTopic>): WorkerAgent | undefined {
  const { attempt } = line.detail;
  if (attempt === undefined) return undefined;
  if (line.event === 'agent.session.started') return started(before, line);
  const known = before?.attempt === attempt ? before : unstarted(attempt, line, before);
  // An earlier attempt no longer matters.
  if (before !== null && before.attempt > attempt) return undefined;
  switch (line.event) {
    case 'agent.session.failed':
      return { ...known, problem: short(line.detail.problem) ?? 'unknown' };
    case 'agent.session.ended':
      // It still has nothing to do, and its question stays.
      if (known.suspended !== undefined && known.state === 'idle') return { ...known, doing: null };
      return inState({ ...known, open: [], doing: null }, 'ended', line);
    case 'agent.turn.started':
      return inState(
        { ...awake(withoutLimit(known, line)), doing: null, problem: null, stopped: null },
        'running',
        line,
      );
    case 'agent.turn.ended': {
      const { ok, reason, queued } = line.detail;
      const problem = ok === false ? (short(reason) ?? 'unknown') : null;
      const next = { ...withAmounts(known, line.detail), problem, doing: null };
      // The next message is sent at once.
      return queued ? next : waiting(next, pausedBy(next) === null ? 'idle' : 'paused', line);
    }
    case 'agent.tool.started':
      return { ...known, doing: short(doingWords(line.detail)) ?? null };
    case 'agent.tool.ended':
      return { ...known, doing: null };
    case 'agent.request.opened': {
      const { request } = line.detail;
      if (request === undefined) return known;
      const open = [...known.open.filter((one) => one.request !== request.request), request].slice(
        -MOST_OPEN,
      );
      return waiting({ ...known, open }, 'running', line);
    }
    case 'agent.request.answered': {
      const { request, running } = line.detail;
      const open = known.open.filter((one) => one.request !== request);
      return waiting({ ...known, open }, running === false ? 'idle' : 'running', line);
    }
    case 'agent.message':
      return { ...known, message: short(line.detail.text) ?? null };
    case 'agent.plan_changed':
      return known;
    case 'agent.mode_changed':
      return {
        ...known,
        mode: short(line.detail.mode) ?? known.mode,
        model: short(line.detail.model) ?? known.model,
      };
    case 'agent.usage':
      return withAmounts(known, line.detail);
    case 'agent.limit.reached': {
      const { turn = 0, text, until = null, unpaid = false } = line.detail;
      const given = { attempt, turn, text: short(text) ?? 'unknown', until, unpaid, at: line.ts };
      const next = { ...known, limit: limitAfter(known.limit, given) };
      // A person's stop comes first.
      return next.stopped === null ? next : withoutLimit(next, line);
    }
    case 'agent.limit.over': {
      const limit = pausedBy(known);
      if (limit === null || limit.turn !== line.detail.turn) return known;
      return { ...known, limit: { ...limit, endedAt: line.ts, resumed: true } };
    }
    case 'agent.stopped': {
      const next = withoutLimit(
        { ...known, stopped: { by: short(line.detail.by) ?? 'unknown', at: line.ts } },
        line,
      );
      return next.state === 'paused' ? inState(next, 'idle', line) : next;
    }
    case 'agent.suspended':
      return known.state === 'idle'
        ? { ...known, suspended: { at: line.ts, minutes: line.detail.minutes ?? 0 } }
        : known;
  }
}

function awake({ suspended: _, ...agent }: WorkerAgent): WorkerAgent {
  return agent;
}

/** The title of the tool, with its file unless the title names it. */
function doingWords({ title, paths }: LineOf<'agent.tool.started'>['detail']): string | undefined {
  const [path] = paths ?? [];
  const name = path?.split('/').at(-1) ?? '';
  return title === undefined || name === '' || title.includes(name) ? title : `${title}: ${name}`;
}

function withAmounts(
  agent: WorkerAgent,
  { tokens, cost, context }: LineOf<'agent.usage'>['detail'],
): WorkerAgent {
  return {
    ...agent,
    tokens: tokens ?? agent.tokens,
    cost: cost ?? agent.cost,
    context: context ?? agent.context,
  };
}

/** The pause ends without svc: somebody sent a message, stopped the agent, or started it again. */
function withoutLimit(agent: WorkerAgent, { ts }: LineOf): WorkerAgent {
  const { limit } = agent;
  if (limit === null || (limit.endedAt !== null && !limit.resumed)) return agent;
  return { ...agent, limit: { ...limit, endedAt: limit.endedAt ?? ts, resumed: false } };
}

/** An agent may also ask when no turn runs. Without an open request it is in the other state. */
function waiting(agent: WorkerAgent, other: 'running' | 'idle' | 'paused', line: LineOf): WorkerAgent {
  if (agent.state === 'ended') return agent;
  const isPermission = agent.open.some(({ kind }) => kind === 'permission');
  return inState(
    agent,
    isPermission ? 'needs-permission' : agent.open.length > 0 ? 'needs-input' : other,
    line,
  );
}

function inState(agent: WorkerAgent, state: WorkerAgent['state'], line: LineOf): WorkerAgent {
  return agent.state === state ? agent : { ...agent, state, since: timeOf(line) };
}

function started(before: WorkerAgent | null, line: LineOf<'agent.session.started'>): WorkerAgent | undefined {
  const { attempt = 1, agent, version, protocol, reason, mode, model } = line.detail;
  if (before !== null && before.attempt > attempt) return undefined;
  return {
    ...unstarted(attempt, line, before),
    name: short(agent) ?? 'unknown',
    version: short(version) ?? null,
    protocol: protocol === true,
    reason: short(reason) ?? null,
    state: protocol === true ? 'starting' : null,
    sessionId: short(line.detail.sessionId) ?? null,
    mode: short(mode) ?? null,
    model: short(model) ?? null,
    costOf: line.detail.costOf ?? 'process',
    ...(line.detail.images === true && { images: true }),
  };
}

function unstarted(attempt: number, line: LineOf, before: WorkerAgent | null): WorkerAgent {
  const limit = before === null ? null : withoutLimit(before, line).limit;
  return {
    attempt,
    name: 'unknown',
    version: null,
    protocol: true,
    reason: null,
    state: 'starting',
    since: timeOf(line),
    sessionId: null,
    message: null,
    doing: null,
    mode: null,
    model: null,
    context: null,
    tokens: null,
    cost: null,
    costOf: 'process',
    open: [],
    limit,
    stopped: null,
    problem: null,
  };
}

export const agentFolds: readonly Fold[] = [
  on(
    [
      'agent.session.started',
      'agent.session.failed',
      'agent.session.ended',
      'agent.turn.started',
      'agent.turn.ended',
      'agent.tool.started',
      'agent.tool.ended',
      'agent.request.opened',
      'agent.request.answered',
      'agent.message',
      'agent.plan_changed',
      'agent.mode_changed',
      'agent.usage',
      'agent.limit.reached',
      'agent.limit.over',
      'agent.stopped',
      'agent.suspended',
    ],
    foldAgent,
  ),
];
