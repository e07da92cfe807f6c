// What the earlier model would have cost: it asked for everything every 30 seconds. Per pull request it made
// one call each for the pull request, its reviews, review comments, comments, check suites, statuses and
// deployments; per repository one for the list of pull requests. 30 workers over 10 repositories came to
// 26,400 calls an hour.
const POLL_EVERYTHING_MS = 30_000;
const CALLS_PER_PULL_REQUEST = 7;
const CALLS_PER_REPO = 1;

export function callsOfPollingEverything(watched: {
  pullRequests: number;
  repos: number;
  elapsedMs: number;
}): number {
  const each = watched.pullRequests * CALLS_PER_PULL_REQUEST + watched.repos * CALLS_PER_REPO;
  return Math.floor(Math.max(watched.elapsedMs, 0) / POLL_EVERYTHING_MS) * each;
}
