// Reconciliation with the code host, by timer and with nobody looking: whatever a delivery would have told,
// this finds out, minutes later. Pull requests that somebody cares for are looked at wherever they are; in
// repositories without webhooks also the newest ones. It counts what it costs, and what polling everything
// every 30 seconds would have cost.
//
//   const reconciler = createReconciler({ gh, watched, … });
//   setInterval(() => reconciler.run(), RECONCILE_EVERY_MS)
import { type AwaitedDeploy, callsOfPollingEverything, repoKey } from '@svc/core';
import type { Gh } from './gh.ts';
import { createDeployReconciler } from './reconcile-deploys.ts';
import { type Reconciled, type ReconcileOptions, reconcilePullRequests } from './reconcile-pull-requests.ts';

export const RECONCILE_EVERY_MS = 600_000;

export type Watched = {
  /** Every repository that somebody cares for. */
  repos: readonly string[];
  pullRequests: readonly { repo: string; number: number }[];
  deploys: readonly AwaitedDeploy[];
};

export type Reconciler = {
  /**
   * Rejects only when the log takes no lines; the next run finds the same differences. Without deploys only
   * pull requests are asked for, which is one call for many.
   */
  run: (what?: { deploys: boolean }) => Promise<Reconciled>;
  /** Calls made, and calls that polling everything every 30 seconds would have made on top. */
  meter: () => { made: number; avoided: number };
};

export function createReconciler(
  options: ReconcileOptions & {
    gh: Gh;
    watched: () => Watched | Promise<Watched>;
    deploymentStates: (repo: string, id: number) => ReadonlySet<string> | undefined;
  },
): Reconciler {
  const { gh, now, isCovered } = options;
  const reconcileDeploys = createDeployReconciler(options);
  let measuredAt = now();
  let polledEverything = 0;
  let running: Promise<Reconciled> | undefined;
  /** Repositories that were looked at once whole: of others the log may not know what was open before. */
  const met = new Set<string>();

  function measure({ pullRequests, repos }: Watched): void {
    const elapsedMs = now() - measuredAt;
    const each = { pullRequests: pullRequests.length, repos: repos.length, elapsedMs };
    polledEverything += callsOfPollingEverything(each);
    measuredAt += elapsedMs;
  }

  async function runOnce(withDeploys: boolean): Promise<Reconciled> {
    const watched = await options.watched();
    measure(watched);
    const { pullRequests } = watched;
    const uncovered = watched.repos.filter((repo) => !isCovered(repo) || !met.has(repoKey(repo)));
    const one = await reconcilePullRequests(options, { pullRequests, uncovered });
    const failed = new Set(one.problems.map(({ repo }) => repoKey(repo)));
    for (const repo of uncovered) if (!failed.has(repoKey(repo))) met.add(repoKey(repo));
    // A merge that was just found has a deployment to wait for too.
    const { deploys } = withDeploys ? await options.watched() : { deploys: [] };
    const other = await reconcileDeploys(deploys);
    return {
      looked: one.looked + other.looked,
      found: one.found + other.found,
      told: one.told + other.told,
      problems: [...one.problems, ...other.problems],
    };
  }

  return {
    async run({ deploys } = { deploys: true }) {
      running ??= runOnce(deploys);
      try {
        return await running;
      } finally {
        running = undefined;
      }
    },
    meter() {
      const { calls } = gh.figures();
      return { made: calls, avoided: Math.max(polledEverything - calls, 0) };
    },
  };
}
