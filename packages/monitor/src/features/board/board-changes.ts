// What changed in the board's view since a line. Entities are never changed in place: the same object means no change,
// and only other objects are checked. A worker's view also changes with its pull request, its ticket and the deployments
// of its merge.
//
// The tracker reads the board when it is asked, and remembers which objects it saw and at which line it first saw each.
// It indexes the entities that each worker depends on, so a changed pull request leads to its workers without a search.

import { type Board } from '../../kernel/board/board.ts';
import { branchKey, commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { type Deployment } from '../deploy/deployment.ts';
import { type PullRequest } from '../pull-requests/pull-request.ts';
import { commitsOf, type Names, repoOf, type Subject, subjectOf } from '../tickets/subject.ts';
import { type Ticket } from '../tracker/ticket.ts';
import { type Worker } from '../workers/worker.ts';
import type { BoardChanges, BoardView } from './api.ts';
import { boardView, isShown, kindViews, shownFrom } from './board-view.ts';
import { type BoardKind, boardKinds } from './kinds.ts';
import { shownTeam } from './shown-team.ts';

export type ChangeTracker = {
  /** Since the line `after`; the whole board when that is not known. */
  changes: (board: Board, after: number | undefined, settledMs: number) => BoardChanges;
};

/** How many keys of removed entities are remembered. */
const MOST_GONE = 20_000;

type Seen = { entity: object; seq: number };
/** What a worker's view was built from, and the keys of what may change it. */
type Made = { of: readonly (object | null)[]; interests: readonly string[] };

export function createChangeTracker(mostGone = MOST_GONE): ChangeTracker {
  let tracked: Tracked | undefined;
  return {
    changes(board, after, settledMs) {
      const isNew = tracked === undefined || !tracked.isOf(board);
      if (tracked === undefined || isNew) tracked = track(board, mostGone);
      tracked.update();
      return after !== undefined && !isNew && tracked.knows(after)
        ? tracked.since(after, settledMs)
        : { ...boardView(board, { settledMs, team: true }), full: true, gone: nothingGone() };
    },
  };
}

type Tracked = {
  isOf: (board: Board) => boolean;
  update: () => void;
  knows: (seq: number) => boolean;
  since: (after: number, settledMs: number) => BoardChanges;
};

function track(board: Board, mostGone: number): Tracked {
  const seen = byKind(() => new Map<string, Seen>());
  const gone = byKind(() => new Map<string, number>());
  const made = new Map<string, Made>();
  const interested = new Map<string, Set<string>>();
  const names = createNameIndex(board);
  let updatedTo = -1;
  let knownFrom = board.seq;
  let shown = shownTeam(board);

  /** The changed entities, before and after. */
  function changedIn(
    kind: BoardKind,
  ): { key: string; before: object | undefined; after: object | undefined }[] {
    const known = seen[kind];
    const entities = kind === 'team' ? shown.records : board[kind];
    const found: { key: string; before: object | undefined; after: object | undefined }[] = [];
    for (const [key, entity] of entities) {
      const last = known.get(key);
      if (last?.entity === entity) continue;
      if (last === undefined) {
        known.set(key, { entity, seq: board.seq });
        gone[kind].delete(key);
      } else {
        found.push({ key, before: last.entity, after: entity });
        last.entity = entity;
        last.seq = board.seq;
        continue;
      }
      found.push({ key, before: undefined, after: entity });
    }
    if (known.size > entities.size)
      for (const [key, { entity }] of known) {
        if (entities.has(key)) continue;
        known.delete(key);
        forgetOldest(gone[kind]);
        gone[kind].set(key, board.seq);
        found.push({ key, before: entity, after: undefined });
      }
    return found;
  }

  function forgetOldest(keys: Map<string, number>): void {
    if (keys.size < mostGone) return;
    const [oldest] = keys;
    if (oldest === undefined) return;
    keys.delete(oldest[0]);
    // A client that is further behind would keep the entity forever.
    knownFrom = Math.max(knownFrom, oldest[1]);
  }

  function update(): void {
    if (updatedTo === board.seq) return;
    shown = shownTeam(board);
    const affected = new Set<string>();
    const touch = (interest: string): void => {
      for (const key of interested.get(interest) ?? []) affected.add(key);
    };
    for (const { key, before, after } of changedIn('pullRequests')) {
      names.note('pullRequests', key, before as PullRequest, after as PullRequest);
      touch(`pr ${key}`);
      for (const one of [before, after] as (PullRequest | undefined)[]) {
        if (typeof one?.branch === 'string') touch(`branch ${branchKey(one.repo, one.branch)}`);
        if (typeof one?.ticket === 'string') touch(`ticket ${one.ticket.toUpperCase()}`);
      }
    }
    for (const { key, before, after } of changedIn('tickets')) {
      names.note('tickets', key, before as Ticket, after as Ticket);
      for (const one of [before, after] as (Ticket | undefined)[])
        if (one !== undefined) touch(`ticket ${one.ticket.toUpperCase()}`);
    }
    for (const { before, after } of changedIn('deployments')) {
      const one = (after ?? before) as Deployment;
      touch(`commit ${commitKey(one.repo, one.sha)}`);
    }
    const workers = changedIn('workers');
    for (const { key, after } of workers) {
      if (after === undefined) forgetWorker(key);
      else affected.add(key);
    }
    for (const key of affected) updateWorker(key);
    for (const kind of ['runs', 'attention', 'feeds', 'sessions', 'members', 'team'] as const)
      changedIn(kind);
    updatedTo = board.seq;
  }

  function forgetWorker(key: string): void {
    for (const interest of made.get(key)?.interests ?? []) {
      const keys = interested.get(interest);
      keys?.delete(key);
      if (keys?.size === 0) interested.delete(interest);
    }
    made.delete(key);
  }

  function updateWorker(key: string): void {
    const worker = board.workers.get(key);
    const last = seen.workers.get(key);
    if (worker === undefined || last === undefined) return;
    const subject = subjectOfWorker(worker);
    const of = [subject.pullRequest, subject.tracked, ...subject.counted];
    const before = made.get(key);
    const isSame = before?.of.length === of.length && of.every((one, index) => one === before.of[index]);
    if (!isSame) last.seq = board.seq;
    const interests = interestsOf(worker, subject);
    if (before?.interests.join('\n') !== interests.join('\n')) {
      forgetWorker(key);
      for (const interest of interests) {
        const keys = interested.get(interest);
        if (keys === undefined) interested.set(interest, new Set([key]));
        else keys.add(key);
      }
    }
    made.set(key, { of, interests });
  }

  function subjectOfWorker(worker: Worker): Subject {
    return subjectOf(board, names, worker.ticket, worker, []);
  }

  function since(after: number, settledMs: number): BoardChanges {
    const from = shownFrom(board, settledMs);
    const left = nothingGone();
    const changed = <Kind extends BoardKind>(kind: Kind): BoardView[Kind] => {
      const { view } = kindViews[kind];
      const views: object[] = [];
      for (const [key, { entity, seq }] of seen[kind]) {
        if (seq <= after) continue;
        if (isShown(kind, entity as never, from))
          views.push(view(key, entity as never, subjectOfWorker, board));
        else left[kind].push(key);
      }
      for (const [key, seq] of gone[kind]) if (seq > after) left[kind].push(key);
      return views as BoardView[Kind];
    };
    return {
      seq: board.seq,
      at: board.at,
      workers: changed('workers'),
      pullRequests: changed('pullRequests'),
      deployments: changed('deployments'),
      tickets: changed('tickets'),
      runs: changed('runs'),
      attention: changed('attention'),
      feeds: changed('feeds'),
      sessions: changed('sessions'),
      members: changed('members'),
      team: changed('team'),
      leftOut: shown.leftOut,
      full: false,
      gone: left,
    };
  }

  return {
    isOf: (other) => other === board,
    update,
    knows: (seq) => seq >= knownFrom && seq <= board.seq,
    since,
  };
}

/** The keys of the entities that can change this worker's view. */
function interestsOf(worker: Worker, { pullRequest }: Subject): string[] {
  const { repo, pr, branch, ticket } = worker;
  const interests = [`ticket ${ticket.toUpperCase()}`];
  if (repo !== null && pr !== null) interests.push(`pr ${pullRequestKey(repo, pr.number)}`);
  if (repo !== null && branch !== null) interests.push(`branch ${branchKey(repo, branch)}`);
  if (pullRequest !== null) interests.push(`pr ${pullRequestKey(pullRequest.repo, pullRequest.number)}`);
  const from = repoOf(worker, pullRequest);
  if (from !== null)
    for (const sha of commitsOf(worker, pullRequest)) interests.push(`commit ${commitKey(from, sha)}`);
  return [...new Set(interests)];
}

function byKind<Value>(make: () => Value): Record<BoardKind, Value> {
  return Object.fromEntries(boardKinds.map((kind) => [kind, make()])) as Record<BoardKind, Value>;
}

function nothingGone(): Record<BoardKind, string[]> {
  return byKind(() => []);
}

// Entities by ticket name, updated with each change: rebuilding it for a large board takes milliseconds.

type Index = Map<string, Set<string>>;
type Named = { ticket: string | null };

type NameIndex = Names & {
  /** An entity was added, changed or removed. */
  note: (
    kind: 'tickets' | 'pullRequests',
    key: string,
    before: Named | undefined,
    after: Named | undefined,
  ) => void;
};

/** Without workers: no view looks up a worker by ticket name. */
function createNameIndex(board: Board): NameIndex {
  const tickets: Index = new Map();
  const pullRequests: Index = new Map();
  return {
    workers: () => [],
    ticket(name) {
      const key = [...(tickets.get(name) ?? [])].at(-1);
      return key === undefined ? undefined : board.tickets.get(key);
    },
    pullRequests: (name) =>
      [...(pullRequests.get(name) ?? [])].flatMap((key) => board.pullRequests.get(key) ?? []),
    note(kind, key, before, after) {
      const index = kind === 'tickets' ? tickets : pullRequests;
      move(index, key, nameOf(before), nameOf(after));
    },
  };
}

function nameOf(entity: Named | undefined): string | null {
  return entity?.ticket?.toUpperCase() ?? null;
}

function move(index: Index, key: string, from: string | null, to: string | null): void {
  if (from === to) return;
  if (from !== null) {
    const keys = index.get(from);
    keys?.delete(key);
    if (keys?.size === 0) index.delete(from);
  }
  if (to === null) return;
  const keys = index.get(to);
  if (keys === undefined) index.set(to, new Set([key]));
  else keys.add(key);
}
