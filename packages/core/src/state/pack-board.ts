// The board as plain JSON, for snapshots. The number of its form is part of it: a snapshot of another form is
// no snapshot, and the log is folded again.

import type { ProjectPolicies } from '../deploy/policy.ts';
import { asFields, type Fields, integerAt } from '../receive/payload-fields.ts';
import type { AttentionItem } from './attention-item.ts';
import { linkAll } from './board-entities.ts';
import { noLinks, pullRequestKey } from './board-links.ts';
import type { Board } from './board-shape.ts';
import type { Deployment } from './deployment.ts';
import type { FeedState } from './feed-state.ts';
import type { PullRequest } from './pull-request.ts';
import type { Run } from './run.ts';
import type { Ticket } from './ticket.ts';
import type { Worker } from './worker.ts';

/** Counted up when entities or the rules that fold them change, so that older snapshots are not believed. */
const BOARD_FORM = 7;

export type PackedBoard = {
  form: typeof BOARD_FORM;
  seq: number;
  at: string | null;
  pullRequests: PullRequest[];
  workers: Worker[];
  deployments: Deployment[];
  tickets: Ticket[];
  runs: Run[];
  attention: AttentionItem[];
  feeds: FeedState[];
  projects: (ProjectPolicies & { project: string })[];
};

export function emptyBoard(): Board {
  return {
    seq: 0,
    at: null,
    pullRequests: new Map(),
    workers: new Map(),
    deployments: new Map(),
    tickets: new Map(),
    runs: new Map(),
    attention: new Map(),
    feeds: new Map(),
    projects: new Map(),
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
    runs: [...board.runs.values()],
    attention: [...board.attention.values()],
    feeds: [...board.feeds.values()],
    projects: [...board.projects.values()],
  };
}

/** Given what `packBoard` made, perhaps by way of JSON; throws on anything else and on another form. */
export function unpackBoard(json: unknown): Board {
  const fields = asFields(json);
  if (fields === undefined || !isPacked(fields)) throw new Error('This is not a board of the present form');
  const board: Board = {
    ...emptyBoard(),
    seq: fields.seq,
    at: fields.at,
    pullRequests: byKey(fields.pullRequests, ({ repo, number }) => pullRequestKey(repo, number)),
    workers: byKey(fields.workers, ({ key }) => key),
    deployments: byKey(fields.deployments, ({ repo, id }) => pullRequestKey(repo, id)),
    tickets: byKey(fields.tickets, ({ ticket }) => ticket),
    runs: byKey(fields.runs, ({ orchestrator }) => orchestrator),
    attention: byKey(fields.attention, ({ id }) => id),
    feeds: byKey(fields.feeds, ({ feed }) => feed),
    projects: byKey(fields.projects, ({ project }) => project),
  };
  linkAll(board);
  return board;
}

const lists = ['pullRequests', 'workers', 'deployments', 'tickets', 'runs', 'attention', 'feeds', 'projects'];

function isPacked(fields: Fields): fields is PackedBoard {
  const { form, at } = fields;
  if (form !== BOARD_FORM || integerAt(fields, 'seq') === undefined) return false;
  if (at !== null && typeof at !== 'string') return false;
  return lists.every((name) => Array.isArray(fields[name]));
}

function byKey<Entity>(entities: readonly Entity[], keyOf: (entity: Entity) => string): Map<string, Entity> {
  return new Map(entities.map((entity) => [keyOf(entity), entity]));
}
