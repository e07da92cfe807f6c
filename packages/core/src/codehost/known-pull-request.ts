// What the log says of a pull request, as far as a reconciliation compares it.
export type KnownPullRequest = {
  state: 'open' | 'closed' | 'merged';
  draft?: boolean | undefined;
  headSha?: string | undefined;
  /** What the reviews come to, and the checks of the head commit; undefined when the log does not tell. */
  verdict?: 'approved' | 'changes_requested' | undefined;
  checks?: 'success' | 'failure' | undefined;
  /** The code host's own word on whether it can be merged, and the commit of a merge. */
  mergeableState?: string | undefined;
  mergeSha?: string | undefined;
  /** The line that it is known from, so that the same change can be told again when it happens again. */
  asOf?: string | undefined;
};
