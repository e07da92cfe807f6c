// Asks for the deployments of merged commits that somebody waits for, and tells the log what it does not
// know. Statuses are fetched only of a deployment that has changed since it was last looked at.
import {
  deploymentDifferences,
  type EventDraft,
  type KnownDeployments,
  PolledDeployment,
  PolledDeploymentStatus,
  repoNameIn,
} from '@svc/core';
import type { Gh } from './gh.ts';
import { type GhResult, parsed } from './gh-result.ts';
import type { Reconciled } from './reconcile-pull-requests.ts';

/** `repo` as the code host spells it: lines are found by it. */
export type WatchedDeploy = { repo: string; sha: string; known: KnownDeployments };

export type DeployReconciler = (deploys: readonly WatchedDeploy[]) => Promise<Reconciled>;

const commit = /^[0-9a-f]{7,64}$/i;

export function createDeployReconciler({
  gh,
  append,
}: {
  gh: Pick<Gh, 'request'>;
  append: (draft: EventDraft) => Promise<{ duplicate: boolean }>;
}): DeployReconciler {
  let seen = new Map<number, string>();

  async function listOf<Value>(
    path: string,
    shape: Parameters<typeof parsed<Value[]>>[0],
  ): Promise<GhResult<Value[]>> {
    const answer = await gh.request({ path });
    return answer.ok ? parsed(shape, answer.value.json) : answer;
  }

  return async (deploys) => {
    const report: Reconciled = { looked: 0, found: 0, told: 0, problems: [] };
    const stillWatched = new Map<number, string>();
    for (const { repo, sha, known } of deploys) {
      if (repoNameIn(repo) === undefined || !commit.test(sha)) continue;
      const listed = await listOf(
        `repos/${repo}/deployments?sha=${sha}&per_page=100`,
        PolledDeployment.array(),
      );
      if (!listed.ok) {
        report.problems.push({ repo, problem: listed.problem });
        continue;
      }
      for (const deployment of listed.value.toReversed()) {
        report.looked += 1;
        const before = seen.get(deployment.id);
        if (before !== undefined) stillWatched.set(deployment.id, before);
        if (before === deployment.updated_at) continue;
        const path = `repos/${repo}/deployments/${deployment.id}/statuses?per_page=100`;
        const statuses = await listOf(path, PolledDeploymentStatus.array());
        if (!statuses.ok) {
          report.problems.push({ repo, problem: statuses.problem });
          continue;
        }
        for (const draft of deploymentDifferences(repo, deployment, statuses.value, known)) {
          const { duplicate } = await append(draft);
          report.found += 1;
          if (!duplicate) report.told += 1;
        }
        stillWatched.set(deployment.id, deployment.updated_at);
      }
    }
    seen = stillWatched;
    return report;
  };
}
