// What is polled at the code host, as far as the log knows it.

import { pullRequestKey } from '../../kernel/board/keys.ts';
import type { StateFollower } from '../../kernel/board/state-follower.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { knownPullRequest } from '../pull-requests/fold-pull-request.ts';
import type { KnownPullRequest } from '../pull-requests/poll-differences.ts';
import type { AwaitedDeploy, LookupOf, UnseenClaim } from './watched.ts';
import {
  awaitedDeploys,
  claimUnseen,
  knownDeploymentStates,
  unseenClaims,
  watchedPullRequests,
} from './watched.ts';

/** What the log knows about things that are polled at the code host. */
export type CodehostView = {
  /** Resolves when every line that is in the log now has been folded. */
  caughtUp: () => Promise<void>;
  pullRequests: () => readonly { repo: string; number: number }[];
  knownOf: (repo: string, number: number) => KnownPullRequest | undefined;
  deploys: () => readonly AwaitedDeploy[];
  /** Workers that claim a pull request which was not seen. */
  claims: () => readonly UnseenClaim[];
  /** The line about a claim for which a poll found nothing, if it is still unproven. */
  claimUnseen: (claim: UnseenClaim) => EventDraft | undefined;
  deploymentStates: (repo: string, id: number) => ReadonlySet<string> | undefined;
};

export function codehostView(
  state: Pick<StateFollower, 'board' | 'reached'>,
  lastSeq: () => number,
  now: () => number,
  lookupOf: LookupOf,
): CodehostView {
  return {
    caughtUp: () => state.reached(lastSeq()),
    pullRequests: () => watchedPullRequests(state.board(), now()),
    knownOf(repo, number) {
      const known = state.board().pullRequests.get(pullRequestKey(repo, number));
      return known && knownPullRequest(known);
    },
    deploys: () => awaitedDeploys(state.board(), now(), lookupOf),
    claims: () => unseenClaims(state.board()),
    claimUnseen: (claim) => claimUnseen(state.board(), claim),
    deploymentStates: (repo, id) => knownDeploymentStates(state.board(), repo, id),
  };
}
