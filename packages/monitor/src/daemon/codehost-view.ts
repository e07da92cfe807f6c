// What the code host is asked about, read from the board.
import {
  awaitedDeploys,
  knownDeploymentStates,
  knownPullRequest,
  pullRequestKey,
  watchedPullRequests,
} from '@svc/core';
import type { StateFollower } from '../state/state-follower.ts';
import type { CodehostView } from './codehost-feed.ts';

export function codehostView(
  state: Pick<StateFollower, 'board' | 'reached'>,
  lastSeq: () => number,
  now: () => number,
): CodehostView {
  return {
    caughtUp: () => state.reached(lastSeq()),
    pullRequests: () => watchedPullRequests(state.board(), now()),
    knownOf(repo, number) {
      const known = state.board().pullRequests.get(pullRequestKey(repo, number));
      return known && knownPullRequest(known);
    },
    deploys: () => awaitedDeploys(state.board(), now()),
    deploymentStates: (repo, id) => knownDeploymentStates(state.board(), repo, id),
  };
}
