// What of the board's view changed since a line. Entities are never changed in place, so that one that is the same
// object is the same; only those that are not are looked at. A worker's view is made of more than the worker: it
// changes with its pull request, its ticket and the deployments of its merge too.
//
// The tracker looks at the board when it is asked, and remembers which objects it saw and at which line it first saw
// each. It holds the keys by which other entities matter to a worker, so that a changed pull request leads to its
// workers without a search.
import type { BoardChanges, BoardView } from '../../api/board.ts';
import { branchKey, commitKey, pullRequestKey } from '../board-entities.ts';
import type { Board, Deployment, PullRequest, Ticket, Worker } from '../board-types.ts';
import { type BoardKind, boardKinds, boardView, isShown, kindViews, shownFrom } from './board-view.ts';
import { commitsOf, type Names, repoOf, type Subject, subjectOf } from './subject.ts';

export type ChangeTracker = {
  /** Since the line `after`; everything when that cannot be told. */
  changes: (board: Board, after: number | undefined, settledMs: number) => BoardChanges;
};

/** Keys of what went that are remembered. */
const MOST_GONE = 20_000;

type Seen = { entity: object; seq: number };
/** What a worker's view was made of, and the keys of what may change it. */
type Made = { of: readonly (object | null)[]; interests: readonly string[] };

export function createChangeTracker(mostGone = MOST_GONE): ChangeTracker {
  let tracked: Tracked | undefined;
  return {
    changes(board, after, settledMs) {
      const isNew = tracked === undefined || !tracked.isOf(board);
      if (tracked === undefined || isNew) tracked = track(board, mostGone);
      tracked.look();
      return after !== undefined && !isNew && tracked.knows(after)
        ? tracked.since(after, settledMs)
        : { ...boardView(board, { settledMs }), full: true, gone: nothingGone() };
    },
  };
}

type Tracked = {
  isOf: (board: Board) => boolean;
  look: () => void;
  knows: (seq: number) => boolean;
  since: (after: number, settledMs: number) => BoardChanges;
};

function track(board: Board, mostGone: number): Tracked {
  const seen = byKind(() => new Map<string, Seen>());
  const gone = byKind(() => new Map<string, number>());
  const made = new Map<string, Made>();
  const interested = new Map<string, Set<string>>();
  const names = createNameIndex(board);
  let lookedAt = -1;
  let knownFrom = board.seq;

  /** The entities that are not what they were: their keys, and what they were. */
  function lookAt(kind: BoardKind): { key: string; before: object | undefined; after: object | undefined }[] {
    const known = seen[kind];
    const found: { key: string; before: object | undefined; after: object | undefined }[] = [];
    for (const [key, entity] of board[kind]) {
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
    if (known.size > board[kind].size)
      for (const [key, { entity }] of known) {
        if (board[kind].has(key)) continue;
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
    // Who has seen less than this would keep it for ever.
    knownFrom = Math.max(knownFrom, oldest[1]);
  }

  function look(): void {
    if (lookedAt === board.seq) return;
    const affected = new Set<string>();
    const touch = (interest: string): void => {
      for (const key of interested.get(interest) ?? []) affected.add(key);
    };
    for (const { key, before, after } of lookAt('pullRequests')) {
      names.note('pullRequests', key, before as PullRequest, after as PullRequest);
      touch(`pr ${key}`);
      for (const one of [before, after] as (PullRequest | undefined)[]) {
        if (typeof one?.branch === 'string') touch(`branch ${branchKey(one.repo, one.branch)}`);
        if (typeof one?.ticket === 'string') touch(`ticket ${one.ticket.toUpperCase()}`);
      }
    }
    for (const { key, before, after } of lookAt('tickets')) {
      names.note('tickets', key, before as Ticket, after as Ticket);
      for (const one of [before, after] as (Ticket | undefined)[])
        if (one !== undefined) touch(`ticket ${one.ticket.toUpperCase()}`);
    }
    for (const { before, after } of lookAt('deployments')) {
      const one = (after ?? before) as Deployment;
      touch(`commit ${commitKey(one.repo, one.sha)}`);
    }
    const workers = lookAt('workers');
    for (const { key, after } of workers) {
      if (after === undefined) forgetWorker(key);
      else affected.add(key);
    }
    for (const key of affected) lookAtWorker(key);
    for (const kind of ['runs', 'attention', 'feeds'] as const) lookAt(kind);
    lookedAt = board.seq;
  }

  function forgetWorker(key: string): void {
    for (const interest of made.get(key)?.interests ?? []) {
      const keys = interested.get(interest);
      keys?.delete(key);
      if (keys?.size === 0) interested.delete(interest);
    }
    made.delete(key);
  }

  function lookAtWorker(key: string): void {
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
        if (isShown(kind, entity as never, from)) views.push(view(key, entity as never, subjectOfWorker));
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
      full: false,
      gone: left,
    };
  }

  return {
    isOf: (other) => other === board,
    look,
    knows: (seq) => seq >= knownFrom && seq <= board.seq,
    since,
  };
}

/** The keys by which another entity can change what this worker's view is made of. */
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

// Who goes by a name, kept up to date change by change: making it anew for a large board takes milliseconds.

type Index = Map<string, Set<string>>;
type Named = { ticket: string | null };

export type NameIndex = Names & {
  /** An entity came, changed or went. */
  note: (
    kind: 'tickets' | 'pullRequests',
    key: string,
    before: Named | undefined,
    after: Named | undefined,
  ) => void;
};

/** It knows no workers: nobody looks for one by the name of another's ticket. */
export function createNameIndex(board: Board): NameIndex {
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
