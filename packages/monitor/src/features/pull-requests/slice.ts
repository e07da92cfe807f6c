// Pull requests on the board, with their links.
import type { Board, BoardLinks } from '../../kernel/board/board.ts';
import { branchKey, commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { type Entry, type Index, relink } from '../../kernel/board/links.ts';
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import { isFromHere } from './own-pull-request.ts';
import type { PullRequest } from './pull-request.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** By `<repo in lower case>#<number>`. */
    pullRequests: PullRequest;
  }

  interface BoardLinks {
    pullRequestsByHead: Index;
    pullRequestsByBranch: Index;
  }
}

const MOST_PULL_REQUESTS = 10_000;

export const pullRequestSlice = {
  pullRequests: {
    keyOf: ({ repo, number }) => pullRequestKey(repo, number),
    link: (links, pullRequest) => linkPullRequest(links, undefined, pullRequest),
    clean: ({ pullRequests }, now) =>
      dropSettled(pullRequests, now, MOST_PULL_REQUESTS, ({ state }) => state !== 'open'),
  },
} as const satisfies Partial<Slices>;

export const noPullRequestLinks = () => ({ pullRequestsByHead: new Map(), pullRequestsByBranch: new Map() });

export function putPullRequest({ pullRequests, links }: Board, pullRequest: PullRequest): void {
  const key = pullRequestKey(pullRequest.repo, pullRequest.number);
  linkPullRequest(links, pullRequests.get(key), pullRequest);
  pullRequests.set(key, pullRequest);
}

function linkPullRequest(links: BoardLinks, before: PullRequest | undefined, after: PullRequest): void {
  if (
    before?.headSha === after.headSha &&
    before.branch === after.branch &&
    before.headRepo === after.headRepo
  )
    return;
  const key = pullRequestKey(after.repo, after.number);
  relink(key, before && entriesOfPullRequest(links, before), entriesOfPullRequest(links, after));
}

function entriesOfPullRequest(links: BoardLinks, pullRequest: PullRequest): Entry[] {
  const { repo, headSha, branch } = pullRequest;
  const entries: Entry[] = [];
  if (headSha !== null) entries.push([links.pullRequestsByHead, commitKey(repo, headSha)]);
  if (branch !== null && isFromHere(pullRequest))
    entries.push([links.pullRequestsByBranch, branchKey(repo, branch)]);
  return entries;
}
