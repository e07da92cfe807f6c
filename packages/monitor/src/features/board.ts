// Folds the log into the board, line by line, and returns the effects of each line.

import { asFields, type Fields, integerAt } from '@svc/contract/payload-fields';
import { ask, type Fold, type FoldContext, on } from '../kernel/board/fold-context.ts';
import { draft } from '../kernel/log/event-line.ts';
import type { DetailOf } from '../kernel/log/topics.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import { agentFolds } from './agents/fold-agent.ts';
import { attentionFolds } from './attention/fold-attention.ts';
import { linkAll, noLinks, pullRequestKey } from './board-entities.ts';
import {
  type AttentionItem,
  type Board,
  boardKinds,
  type CommandEntry,
  type Deployment,
  type FeedState,
  type FoldedLine,
  type PullRequest,
  type Run,
  type Session,
  type Task,
  type TeamMachine,
  type TeamRecord,
  type Ticket,
  type Undoable,
  type Worker,
} from './board-types.ts';
import { deploymentFolds } from './deploy/fold-deployment.ts';
import { policyFolds } from './deploy/fold-policy.ts';
import type { ProjectPolicies, RepoPolicy } from './deploy/policy.ts';
import { pullRequestFolds } from './pull-requests/fold-pull-request.ts';
import { sessionFolds } from './sessions/fold-session.ts';
import { taskFolds } from './tasks/fold-tasks.ts';
import { teamFolds } from './team/fold-team.ts';
import { typedLine } from './topics.ts';
import { isTicketOver } from './tracker/dependencies.ts';
import { ticketTextFolds } from './tracker/fold-ticket-text.ts';
import { subjectFolds } from './tracker/fold-tickets.ts';
import { workerFolds } from './workers/fold-worker.ts';
import { isOver } from './workers/worker-attention.ts';

// Rules that fired: the line itself contains the actions, so a changed configuration does not change the past.

function foldFired(context: FoldContext<'workflow.rule.fired'>): void {
  const { line } = context;
  const { rule, notify, attention, run, line: cause } = line.detail;
  // Only the daemon may report a fired rule, because it runs a command.
  if (line.source !== 'monitor' || rule === undefined || cause === undefined) return;
  const ticket = line.scope.ticket ?? null;
  if (notify) ask(context, rule, { kind: 'notify-rule', rule, ticket, ...notify });
  if (attention) raise(context, `rule-${rule}`, { rule, ...attention }, cause);
  if (run !== undefined) ask(context, rule, { kind: 'run-command', rule, ticket, command: run, line: cause });
}

function foldFailed(context: FoldContext<'workflow.rule.failed'>): void {
  const { rule, problem, line } = context.line.detail;
  if (context.line.source !== 'monitor' || rule === undefined || line === undefined) return;
  const message = `Rule ${rule} is stopped until its filter is fixed: ${problem}`;
  raise(
    context,
    `rule-${rule}-stopped`,
    { rule, message, severity: 'medium', remedy: `svc rules test ${rule}` },
    line,
  );
}

function raise(
  context: FoldContext,
  reason: string,
  detail: Omit<DetailOf<'comms.attention'>, 'reason'>,
  cause: number,
): void {
  const { scope } = context.line;
  const raised = draft('comms.attention', scope, { reason, ...detail, evidence: [cause] });
  ask(context, reason, { kind: 'append', draft: raised });
}

const ruleFolds: readonly Fold[] = [
  on(['workflow.rule.fired'], foldFired),
  on(['workflow.rule.failed'], foldFailed),
];

// Keeps the board bounded: settled entities are dropped after a while, or when there are too many. This happens at fixed
// lines and by the times of the lines, so every fold drops the same entities.

const LINES_BETWEEN_CLEANUPS = 10_000;
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** There are many, and the worker keeps what matters to it. */
const DEPLOYMENTS_KEPT_MS = 7 * DAY_MS;

/** Longer than a command is valid, whatever the clocks show: one that is shown again is known. */
const COMMANDS_KEPT_MS = 3 * DAY_MS;

const caps = {
  pullRequests: 10_000,
  workers: 5_000,
  deployments: 5_000,
  tickets: 10_000,
  tasks: 2_000,
  runs: 2_000,
  attention: 5_000,
  feeds: 500,
  undoable: 500,
  sessions: 2_000,
  team: 100_000,
} as const;

type Kept = { lastSeq: number; lastAt?: string };

/** Drops settled entities, at every 10,000th line. */
function keepBounded(board: Board, { seq, ts }: FoldedLine): void {
  if (seq % LINES_BETWEEN_CLEANUPS !== 0) return;
  const before = (milliseconds: number): string => new Date(Date.parse(ts) - milliseconds).toISOString();
  const limit = before(KEPT_MS);
  let gone = 0;
  gone += dropSettled(board.pullRequests, limit, caps.pullRequests, ({ state }) => state !== 'open');
  gone += dropSettled(board.workers, limit, caps.workers, isOver);
  gone += dropSettled(board.deployments, before(DEPLOYMENTS_KEPT_MS), caps.deployments, () => true);
  if (gone > 0) linkAll(board);
  dropSettled(board.tickets, limit, caps.tickets, (ticket) => ticket.local !== true || isTicketOver(ticket));
  // The text of a local ticket stays as long as the ticket.
  dropSettled(
    board.tasks,
    limit,
    caps.tasks,
    ({ state, local, ticket }) =>
      (state === 'started' || state === 'refused') && !(local && board.tickets.has(ticket ?? '')),
  );
  dropSettled(board.runs, limit, caps.runs, ({ state }) => state !== 'running' && state !== 'paused');
  dropSettled(board.sessions, limit, caps.sessions, ({ state }) => state === 'ended' || state === 'unknown');
  dropSettled(
    board.commands,
    before(COMMANDS_KEPT_MS),
    Number.MAX_SAFE_INTEGER,
    ({ state }) => state !== 'open',
  );
  dropSettled(board.team, limit, caps.team, ({ value }) => value === null);
  capOnly(board.feeds, caps.feeds, ({ lastSeq }) => lastSeq);
  capOnly(board.attention, caps.attention, ({ openedSeq }) => openedSeq);
  capOnly(board.undoable, caps.undoable, ({ seq: acted }) => acted);
}

/** Returns how many were dropped. */
function dropSettled<Entity extends Kept>(
  entities: Map<string, Entity>,
  limit: string,
  most: number,
  isSettled: (entity: Entity) => boolean,
): number {
  const before = entities.size;
  const settled: [key: string, lastSeq: number][] = [];
  for (const [key, entity] of entities) {
    if (!isSettled(entity)) continue;
    if ((entity.lastAt ?? limit) < limit) entities.delete(key);
    else settled.push([key, entity.lastSeq]);
  }
  if (entities.size > most) {
    settled.sort(([, one], [, other]) => one - other);
    for (const [key] of settled.slice(0, entities.size - most)) entities.delete(key);
  }
  return before - entities.size;
}

function capOnly<Entity>(
  entities: Map<string, Entity>,
  most: number,
  seqOf: (entity: Entity) => number,
): void {
  if (entities.size <= most) return;
  const oldest = [...entities].toSorted(([, one], [, other]) => seqOf(one) - seqOf(other));
  for (const [key] of oldest.slice(0, entities.size - most)) entities.delete(key);
}

// The board as plain JSON, for snapshots. A snapshot with another form number is ignored, and the log is folded again.

/** Increased when entities or their reducers change, so older snapshots are not used. */
const BOARD_FORM = 18;

export type PackedBoard = {
  form: typeof BOARD_FORM;
  seq: number;
  at: string | null;
  pullRequests: PullRequest[];
  workers: Worker[];
  deployments: Deployment[];
  tickets: Ticket[];
  tasks: Task[];
  localTickets: number;
  runs: Run[];
  attention: AttentionItem[];
  feeds: FeedState[];
  sessions: (Session & { key: string })[];
  members: TeamMachine[];
  team: TeamRecord[];
  commands: CommandEntry[];
  undoable: Undoable[];
  projects: (ProjectPolicies & { project: string })[];
  policies: RepoPolicy[];
};

export function emptyBoard(): Board {
  return {
    seq: 0,
    at: null,
    pullRequests: new Map(),
    workers: new Map(),
    deployments: new Map(),
    tickets: new Map(),
    tasks: new Map(),
    localTickets: 0,
    runs: new Map(),
    attention: new Map(),
    feeds: new Map(),
    sessions: new Map(),
    members: new Map(),
    team: new Map(),
    commands: new Map(),
    undoable: new Map(),
    projects: new Map(),
    policies: new Map(),
    links: noLinks(),
  };
}

export function packBoard(board: Board): PackedBoard {
  return {
    form: BOARD_FORM,
    seq: board.seq,
    at: board.at,
    pullRequests: [...board.pullRequests.values()],
    workers: [...board.workers.values()],
    deployments: [...board.deployments.values()],
    tickets: [...board.tickets.values()],
    tasks: [...board.tasks.values()],
    localTickets: board.localTickets,
    runs: [...board.runs.values()],
    attention: [...board.attention.values()],
    feeds: [...board.feeds.values()],
    sessions: [...board.sessions].map(([key, session]) => ({ ...session, key })),
    members: [...board.members.values()],
    team: [...board.team.values()],
    commands: [...board.commands.values()],
    undoable: [...board.undoable.values()],
    projects: [...board.projects.values()],
    policies: [...board.policies.values()],
  };
}

/** Given what `packBoard` made, perhaps by way of JSON; throws on anything else and on another form. */
export function unpackBoard(json: unknown): Board {
  const fields = asFields(json);
  if (fields === undefined || !isPacked(fields)) throw new Error('This is not a board in the current format');
  const board: Board = {
    ...emptyBoard(),
    seq: fields.seq,
    at: fields.at,
    pullRequests: byKey(fields.pullRequests, ({ repo, number }) => pullRequestKey(repo, number)),
    workers: byKey(fields.workers, ({ key }) => key),
    deployments: byKey(fields.deployments, ({ repo, id }) => pullRequestKey(repo, id)),
    tickets: byKey(fields.tickets, ({ ticket }) => ticket),
    tasks: byKey(fields.tasks, ({ key }) => key),
    localTickets: fields.localTickets,
    runs: byKey(fields.runs, ({ orchestrator }) => orchestrator),
    attention: byKey(fields.attention, ({ id }) => id),
    feeds: byKey(fields.feeds, ({ feed }) => feed),
    sessions: new Map(fields.sessions.map(({ key, ...session }) => [key, session])),
    members: byKey(fields.members, ({ id }) => id),
    team: byKey(fields.team, ({ id }) => id),
    commands: byKey(fields.commands, ({ key }) => key),
    undoable: byKey(fields.undoable, ({ id }) => id),
    projects: byKey(fields.projects, ({ project }) => project),
    policies: byKey(fields.policies, ({ repo }) => repo),
  };
  linkAll(board);
  return board;
}

const lists = [...boardKinds, 'tasks', 'commands', 'undoable', 'projects', 'policies'];

function isPacked(fields: Fields): fields is PackedBoard {
  const { form, at } = fields;
  if (form !== BOARD_FORM) return false;
  if (['seq', 'localTickets'].some((name) => integerAt(fields, name) === undefined)) return false;
  if (at !== null && typeof at !== 'string') return false;
  return lists.every((name) => Array.isArray(fields[name]));
}

function byKey<Entity>(entities: readonly Entity[], keyOf: (entity: Entity) => string): Map<string, Entity> {
  return new Map(entities.map((entity) => [keyOf(entity), entity]));
}

export { pullRequestOfWorker } from './board-entities.ts';
export type { Board, FoldedLine } from './board-types.ts';
export { workerKey } from './workers/reduce-worker.ts';

export type FoldLine = (board: Board, line: FoldedLine) => Effect[];

const folds: ReadonlyMap<string, Fold> = new Map(
  [
    ...pullRequestFolds,
    ...deploymentFolds,
    ...workerFolds,
    ...policyFolds,
    ...agentFolds,
    ...sessionFolds,
    ...attentionFolds,
    ...teamFolds,
    ...subjectFolds,
    ...ticketTextFolds,
    ...taskFolds,
    ...ruleFolds,
  ].flatMap((fold) => fold.topics.map((topic) => [topic, fold] as const)),
);

/**
 * Applies one line to the board and returns its effects. Lines come in the order of their seq; a line that was already
 * folded changes nothing.
 *
 *     const effects = foldLine(board, line);
 */
export function foldLine(board: Board, line: FoldedLine): Effect[] {
  if (line.seq <= board.seq) return [];
  board.seq = line.seq;
  board.at = line.ts;
  const effects: Effect[] = [];
  // A repeated delivery may be outdated.
  if (line.repeatOf !== undefined) return effects;
  const fold = folds.get(line.event);
  const typed = fold && typedLine(line);
  if (typed !== undefined) fold?.fold({ board, line: typed, effects });
  keepBounded(board, line);
  return effects;
}
