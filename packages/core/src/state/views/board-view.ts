// The board as JSON: every entity with what follows from it. What has been settled for a week is left out
// unless all is asked for, so that the answer does not grow with the log.

import { DEPLOY_BUDGET } from '../../deploy/deploy-worker.ts';
import { isEnded } from '../../deploy/standing.ts';
import type { AttentionItem } from '../attention-item.ts';
import type { Board } from '../board-shape.ts';
import type { Deployment } from '../deployment.ts';
import type { FeedState } from '../feed-state.ts';
import { mergeReadiness } from '../merge-readiness.ts';
import type { MergeReadiness, PullRequest } from '../pull-request.ts';
import type { Run } from '../run.ts';
import type { Ticket } from '../ticket.ts';
import type { Worker } from '../worker.ts';
import { contradictionsIn } from './doubts.ts';
import { ruleOf, waitOf } from './rule.ts';
import { createLookup, type Lookup, nameOfPullRequest } from './subject.ts';

const WEEK_MS = 7 * 86_400_000;

/** The signal file itself stays out: it may hold anything. */
export type WorkerView = Omit<Worker, 'signal' | 'hash' | 'raised' | 'proofsAsked'> & {
  error: string | null;
  cost: { usd: number | null; inputTokens: number | null; outputTokens: number | null } | null;
  /** Failed deployments, and how many there may be. */
  attempts: number;
  budget: number;
  /** The linked pull request, by its name in `pullRequests`. */
  pullRequest: string | null;
  rule: string;
  waitsFor: string | null;
  until: string | null;
  contradictions: string[];
};
/** What only folding needs stays out. */
export type PullRequestView = Omit<
  PullRequest,
  'verdict' | 'threads' | 'previewSources' | 'toldAt' | 'judgedAt' | 'asOf' | 'askedSeq'
> & { name: string; readiness: MergeReadiness };

export type BoardView = {
  seq: number;
  at: string | null;
  workers: WorkerView[];
  pullRequests: PullRequestView[];
  deployments: Deployment[];
  tickets: Ticket[];
  runs: Run[];
  attention: AttentionItem[];
  feeds: FeedState[];
};

export function boardView(board: Board, { all = false }: { all?: boolean } = {}): BoardView {
  const from = all || board.at === null ? Number.NEGATIVE_INFINITY : Date.parse(board.at) - WEEK_MS;
  const shown = <Entity extends { lastAt: string }>(
    entities: Map<string, Entity>,
    isSettled: (entity: Entity) => boolean,
  ): Entity[] =>
    [...entities.values()].filter((entity) => Date.parse(entity.lastAt) >= from || !isSettled(entity));
  const lookup = createLookup(board);
  return {
    seq: board.seq,
    at: board.at,
    workers: shown(board.workers, ({ removed, status }) => removed || isEnded(status)).map((worker) =>
      workerView(worker, lookup),
    ),
    pullRequests: shown(board.pullRequests, ({ state }) => state !== 'open').map(pullRequestView),
    deployments: shown(board.deployments, ({ state }) => settledDeployments.includes(state)),
    tickets: shown(board.tickets, isSettledTicket),
    runs: shown(board.runs, ({ state }) => state === 'completed' || state === 'canceled'),
    attention: [...board.attention.values()],
    feeds: [...board.feeds.values()],
  };
}

const settledDeployments: readonly string[] = ['success', 'failure', 'error', 'inactive'];

function isSettledTicket({ removed, state }: Ticket): boolean {
  return removed || state?.type === 'completed' || state?.type === 'canceled';
}

function pullRequestView(pullRequest: PullRequest): PullRequestView {
  const { verdict, threads, previewSources, toldAt, judgedAt, asOf, askedSeq, ...shown } = pullRequest;
  return { ...shown, name: nameOfPullRequest(pullRequest), readiness: mergeReadiness(pullRequest) };
}

function workerView(whole: Worker, lookup: Lookup): WorkerView {
  const { signal, hash, raised, proofsAsked, ...worker } = whole;
  const subject = lookup.ofWorker(whole);
  return {
    ...worker,
    error: signal?.error ?? null,
    cost: costOf(signal),
    attempts: worker.deploy?.attempts.length ?? 0,
    budget: DEPLOY_BUDGET,
    pullRequest: subject.pullRequest && nameOfPullRequest(subject.pullRequest),
    rule: ruleOf(subject),
    ...waitOf(subject),
    contradictions: contradictionsIn(subject),
  };
}

function costOf(signal: Worker['signal']): WorkerView['cost'] {
  if (typeof signal?.cost !== 'object' || signal.cost === null) return null;
  const { usd = null, inputTokens = null, outputTokens = null } = signal.cost;
  return { usd, inputTokens, outputTokens };
}
