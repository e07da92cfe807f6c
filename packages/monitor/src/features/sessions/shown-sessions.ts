// Which sessions of people the board shows, and their pull requests.
import type { PullRequestView } from '../pull-requests/entity.ts';
import type { Session } from './entity.ts';

/** One that has ended stays for a while: a person who looked away sees what became of it. */
const ENDED_MS = 15 * 60_000;

export function shownSessions<Row extends Pick<Session, 'key' | 'folder' | 'state' | 'since'>>(
  sessions: Iterable<Row>,
  now: number,
): Row[] {
  return [...sessions]
    .filter(({ state, since }) => state !== 'ended' || now - Date.parse(since) < ENDED_MS)
    .toSorted((one, other) => one.folder.localeCompare(other.folder) || one.key.localeCompare(other.key));
}

type Branched = Pick<PullRequestView, 'repo' | 'headRepo' | 'branch' | 'state' | 'lastSeq'>;

/** That of its branch: an open one, else the newest. None if several repositories have one, or only a fork. */
export function pullRequestOfSession<Row extends Branched>(
  { branch }: Pick<Session, 'branch'>,
  pullRequests: Iterable<Row>,
): Row | undefined {
  if (branch === null) return undefined;
  const own = [...pullRequests].filter(
    (one) => one.branch === branch && (one.headRepo === null || one.headRepo === one.repo),
  );
  if (new Set(own.map(({ repo }) => repo)).size > 1) return undefined;
  return own.find(({ state }) => state === 'open') ?? own.toSorted((a, b) => b.lastSeq - a.lastSeq)[0];
}
