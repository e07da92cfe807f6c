// Asks for the deployments of merged commits that somebody waits for, and tells the log what it does not
// know. Where a later commit that contains the merge counts too, the newest deployments of the environment are
// asked for instead: they hold both. Statuses are fetched only of a deployment that has changed since it was
// last looked at.
import {
  type AwaitedDeploy,
  deploymentDifferences,
  type EventDraft,
  PolledDeployment,
  PolledDeploymentStatus,
  repoNameIn,
} from '@svc/core';
import type { Gh } from './gh.ts';
import { type GhResult, parsed } from './gh-result.ts';
import type { Reconciled } from './reconcile-pull-requests.ts';

export type DeployReconciler = (deploys: readonly AwaitedDeploy[]) => Promise<Reconciled>;

const commit = /^[0-9a-f]{7,64}$/i;
/** Of other commits only the newest deployments tell whether a merge is live. */
const NEWEST_OTHERS = 3;
/** The code host's clock and ours differ a little. */
const CLOCK_MS = 60_000;

export function createDeployReconciler({
  gh,
  append,
  deploymentStates,
}: {
  gh: Pick<Gh, 'request'>;
  append: (draft: EventDraft) => Promise<{ duplicate: boolean }>;
  /** The states that the log has of a deployment; undefined when it does not know it. */
  deploymentStates: (repo: string, id: number) => ReadonlySet<string> | undefined;
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
    if (deploys.length === 0) return report;
    const stillWatched = new Map<number, string>();

    async function look(repo: string, deployment: PolledDeployment): Promise<void> {
      report.looked += 1;
      const before = seen.get(deployment.id);
      if (before !== undefined) stillWatched.set(deployment.id, before);
      if (before === deployment.updated_at) return;
      const path = `repos/${repo}/deployments/${deployment.id}/statuses?per_page=100`;
      const statuses = await listOf(path, PolledDeploymentStatus.array());
      if (!statuses.ok) {
        report.problems.push({ repo, problem: statuses.problem });
        return;
      }
      const told = deploymentStates(repo, deployment.id);
      for (const draft of deploymentDifferences(repo, deployment, statuses.value, told)) {
        const { duplicate } = await append(draft);
        report.found += 1;
        if (!duplicate) report.told += 1;
      }
      stillWatched.set(deployment.id, deployment.updated_at);
    }

    for (const { path, repo, awaited } of questionsFor(deploys)) {
      const listed = await listOf(path, PolledDeployment.array());
      if (!listed.ok) {
        report.problems.push({ repo, problem: listed.problem });
        continue;
      }
      for (const deployment of worthALook(listed.value, awaited)) await look(repo, deployment);
    }
    seen = stillWatched;
    return report;
  };
}

type Question = { path: string; repo: string; awaited: AwaitedDeploy[] };

/** One per commit, or one per environment for all commits that wait for it. */
function questionsFor(deploys: readonly AwaitedDeploy[]): Question[] {
  const questions = new Map<string, Question>();
  for (const awaited of deploys) {
    const { repo, sha, environment, acceptDescendants } = awaited;
    if (repoNameIn(repo) === undefined || !commit.test(sha)) continue;
    const which = acceptDescendants ? `environment=${encodeURIComponent(environment)}` : `sha=${sha}`;
    const path = `repos/${repo}/deployments?${which}&per_page=100`;
    const question = questions.get(path) ?? { path, repo, awaited: [] };
    question.awaited.push(awaited);
    questions.set(path, question);
  }
  return [...questions.values()];
}

/** Those of an awaited commit, and the newest others since the first merge; oldest first. */
function worthALook(
  listed: readonly PolledDeployment[],
  awaited: readonly AwaitedDeploy[],
): PolledDeployment[] {
  const shas = new Set(awaited.map(({ sha }) => sha));
  const firstMerge = Math.min(...awaited.map(({ mergedAt }) => Date.parse(mergedAt))) - CLOCK_MS;
  const others = listed
    .filter(({ sha, created_at }) => !shas.has(sha) && Date.parse(created_at) >= firstMerge)
    .slice(0, NEWEST_OTHERS);
  return listed.filter((deployment) => shas.has(deployment.sha) || others.includes(deployment)).toReversed();
}
