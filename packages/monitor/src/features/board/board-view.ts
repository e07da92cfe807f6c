// The board as JSON: every entity with its key and derived fields. Entities that settled over a week ago are left out
// by default, so the answer does not grow with the log.

import type { Board, Entities } from '../../kernel/board/board.ts';
import { pullRequestKey } from '../../kernel/board/keys.ts';
import { costOfWorker } from '../agents/cost.ts';
import type { PullRequestView } from '../pull-requests/entity.ts';
import { mergeReadiness } from '../pull-requests/fold-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { contradictionsIn } from '../tickets/inconsistencies.ts';
import { needsOf } from '../tickets/needs.ts';
import { ruleOf, waitOf } from '../tickets/rule.ts';
import { createLookup, nameOfPullRequest, type Subject } from '../tickets/subject.ts';
import type { Ticket } from '../tracker/ticket.ts';
import { DEPLOY_BUDGET } from '../workers/deploy-stage.ts';
import type { WorkerView } from '../workers/entity.ts';
import { processOf } from '../workers/known-process.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import type { BoardView } from './api.ts';
import type { BoardKind } from './kinds.ts';
import { shownTeam } from './shown-team.ts';

export const WEEK_MS = 7 * 86_400_000;

/** An entity with its key on the board: unique among its kind, and stable. */
type Keyed<Entity> = Entity & { key: string };

type EntityOf<Kind extends BoardKind> = Board[Kind] extends Map<string, infer Entity> ? Entity : never;

/** How an entity of a kind is shown, and when it can be left out. */
export type KindView<Kind extends BoardKind> = {
  isSettled: (entity: EntityOf<Kind>) => boolean;
  /** When it last changed; undefined for a kind that is never left out. */
  lastAt: (entity: EntityOf<Kind>) => string | undefined;
  view: (
    key: string,
    entity: EntityOf<Kind>,
    subjectOfWorker: (worker: Worker) => Subject,
    board: Board,
  ) => BoardView[Kind][number];
};

const lastAt = ({ lastAt: at }: { lastAt: string }): string => at;
const keyed = <Entity extends object>(key: string, entity: Entity): Keyed<Entity> => ({ key, ...entity });
const settledDeployments: readonly string[] = ['success', 'failure', 'error', 'inactive'];

export const kindViews: { [Kind in BoardKind]: KindView<Kind> } = {
  workers: {
    isSettled: ({ removed, status }) => removed || isEnded(status),
    lastAt,
    view: (_key, worker, subjectOfWorker, board) =>
      workerView(worker, subjectOfWorker(worker), needsOf(board, worker)),
  },
  pullRequests: {
    isSettled: ({ state }) => state !== 'open',
    lastAt,
    view: (key, pullRequest) => pullRequestView(key, pullRequest),
  },
  deployments: { isSettled: ({ state }) => settledDeployments.includes(state), lastAt, view: keyed },
  tickets: { isSettled: isSettledTicket, lastAt, view: keyed },
  runs: { isSettled: ({ state }) => state === 'completed' || state === 'canceled', lastAt, view: keyed },
  attention: { isSettled: () => false, lastAt: () => undefined, view: keyed },
  feeds: { isSettled: () => false, lastAt: () => undefined, view: keyed },
  sessions: { isSettled: ({ state }) => state === 'ended' || state === 'unknown', lastAt, view: keyed },
  members: { isSettled: () => false, lastAt: () => undefined, view: keyed },
  team: { isSettled: isSettledRecord, lastAt, view: recordView },
};

/** `settledMs`: how long settled entities are still shown; default: a week. `team`: with what others have published. */
export function boardView(
  board: Board,
  {
    all = false,
    settledMs = WEEK_MS,
    team = false,
  }: { all?: boolean; settledMs?: number; team?: boolean } = {},
): BoardView {
  const from = all ? Number.NEGATIVE_INFINITY : shownFrom(board, settledMs);
  const lookup = createLookup(board);
  const { records, leftOut } = team ? shownTeam(board) : { records: board.team, leftOut: [] };
  const shown = <Kind extends BoardKind>(kind: Kind): BoardView[Kind][number][] => {
    const { view } = kindViews[kind];
    const views: BoardView[Kind][number][] = [];
    const entities = (kind === 'team' ? records : board[kind]) as Map<string, EntityOf<Kind>>;
    for (const [key, entity] of entities)
      if (isShown(kind, entity, from)) views.push(view(key, entity, lookup.ofWorker, board));
    return views;
  };
  return {
    seq: board.seq,
    at: board.at,
    workers: shown('workers'),
    pullRequests: shown('pullRequests'),
    deployments: shown('deployments'),
    tickets: shown('tickets'),
    runs: shown('runs'),
    attention: shown('attention'),
    feeds: shown('feeds'),
    sessions: shown('sessions'),
    members: team ? shown('members') : [],
    team: team ? shown('team') : [],
    leftOut,
  };
}

/** Entities that settled before this time are left out. */
export function shownFrom(board: Board, settledMs: number): number {
  return board.at === null ? Number.NEGATIVE_INFINITY : Date.parse(board.at) - settledMs;
}

export function isShown<Kind extends BoardKind>(kind: Kind, entity: EntityOf<Kind>, from: number): boolean {
  const { isSettled, lastAt: at } = kindViews[kind];
  const changed = at(entity);
  return changed === undefined || Date.parse(changed) >= from || !isSettled(entity);
}

function isSettledTicket({ removed, state }: Ticket): boolean {
  return removed || state?.type === 'completed' || state?.type === 'canceled';
}

function isSettledRecord({ kind, value }: Entities['team']): boolean {
  if (value === null) return true;
  if (kind === 'worker') return kindViews.workers.isSettled(value as never);
  if (kind === 'run') return kindViews.runs.isSettled(value);
  return kind === 'session' && kindViews.sessions.isSettled(value);
}

function recordView(key: string, record: Entities['team']): BoardView['team'][number] {
  const { id: _id, version: _version, ...shown } = record;
  return { ...shown, key };
}

function pullRequestView(key: string, pullRequest: PullRequest): PullRequestView {
  const { verdict, threads, previewSources, reportedAt, judgedAt, asOf, askedSeq, ...shown } = pullRequest;
  return { key, ...shown, name: nameOfPullRequest(pullRequest), readiness: mergeReadiness(pullRequest) };
}

function workerView(whole: Worker, subject: Subject, needs: string[]): WorkerView {
  const { signal, hash, first, raised, given, unseenSeq, refuted, proofsAsked, spent, waited, ...worker } =
    whole;
  const { pullRequest } = subject;
  return {
    ...worker,
    process: processOf(whole),
    error: signal?.error ?? null,
    cost: costOfWorker(whole),
    ...(spent.days.length > 0 && { costByDay: spent.days }),
    ...((waited.ms > 0 || waited.since !== null) && { waited }),
    attempts: worker.deploy?.attempts.length ?? 0,
    budget: DEPLOY_BUDGET,
    pullRequest: pullRequest && nameOfPullRequest(pullRequest),
    pullRequestKey: pullRequest && pullRequestKey(pullRequest.repo, pullRequest.number),
    rule: ruleOf(subject),
    ...waitOf(subject),
    contradictions: contradictionsIn(subject),
    needs,
  };
}
