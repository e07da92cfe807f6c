// Reconciliation with the code host, by timer: it finds whatever a delivery would have reported, minutes later. Watched
// pull requests are checked in every repository; in repositories without webhooks also the newest ones. It counts its
// calls, and the calls that polling everything every 30 seconds would have made.
//
//   const reconciler = createReconciler({ gh, watched, … });
//   setInterval(() => reconciler.run(), RECONCILE_EVERY_MS)
import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import { singleFlight } from '@svc/lib/single-flight';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { callsOfPollingEverything } from '../codehost/api-budget.ts';
import { done, type Gh, type GhResult, parsed } from '../codehost/gh.ts';
import { type Reconciled, type RoundParts, type Rounds } from '../codehost/rounds.ts';
import {
  deploymentDifferences,
  PolledDeployment,
  PolledDeploymentStatus,
} from '../pull-requests/poll-differences.ts';
import { type ReconcileOptions, reconcilePullRequests } from '../pull-requests/reconcile-pull-requests.ts';
import { type CodehostView } from './codehost-view.ts';
import { isSameEnvironment } from './policy.ts';
import type { AwaitedDeploy, UnseenClaim } from './watched.ts';

// Polls the deployments of merged commits that are awaited, and logs what the log does not have yet. A repository's newest
// deployments are listed in one call, whatever their environment: one that was promoted may still have its first one.
// Statuses are fetched only for a deployment that has changed since the last check.

type DeployReconciler = (deploys: readonly AwaitedDeploy[]) => Promise<Reconciled>;

const commit = /^[0-9a-f]{7,64}$/i;
/** The most that the code host lists in one answer. */
const PER_PAGE = 100;
/** Only the newest deployments of other commits matter for whether a merge is live. */
const NEWEST_OTHERS = 3;
/** The code host's clock and ours differ a little. */
const CLOCK_MS = 60_000;

function createDeployReconciler({
  gh,
  append,
  deploymentStates,
}: {
  gh: Pick<Gh, 'request'>;
  append: (draft: EventDraft) => Promise<{ duplicate: boolean }>;
  /** The states that the log has for a deployment; undefined if the deployment is unknown. */
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

  /** Newest first. What one call does not reach back to is asked for by environment or commit. */
  async function listFor(
    repo: string,
    awaited: readonly AwaitedDeploy[],
  ): Promise<GhResult<PolledDeployment[]>> {
    const path = `repos/${repo}/deployments?`;
    const newest = await listOf(`${path}per_page=${PER_PAGE}`, PolledDeployment.array());
    if (!newest.ok || newest.value.length < PER_PAGE) return newest;
    if (newest.value.some((one) => Date.parse(one.created_at) < firstMergeOf(awaited))) return newest;
    const found = new Map(newest.value.map((one) => [one.id, one]));
    for (const filter of narrower(awaited)) {
      const some = await listOf(`${path}${filter}&per_page=${PER_PAGE}`, PolledDeployment.array());
      if (!some.ok) return some;
      for (const one of some.value) found.set(one.id, one);
    }
    return done([...found.values()].toSorted((one, other) => other.id - one.id));
  }

  return async (deploys) => {
    const report: Reconciled = { checked: 0, found: 0, logged: 0, problems: [] };
    if (deploys.length === 0) return report;
    const stillWatched = new Map<number, string>();

    async function check(repo: string, deployment: PolledDeployment): Promise<void> {
      report.checked += 1;
      const before = seen.get(deployment.id);
      if (before !== undefined) stillWatched.set(deployment.id, before);
      if (before === deployment.updated_at) return;
      const path = `repos/${repo}/deployments/${deployment.id}/statuses?per_page=100`;
      const statuses = await listOf(path, PolledDeploymentStatus.array());
      if (!statuses.ok) {
        report.problems.push({ repo, problem: statuses.problem });
        return;
      }
      const known = deploymentStates(repo, deployment.id);
      for (const draft of deploymentDifferences(repo, deployment, statuses.value, known)) {
        const { duplicate } = await append(draft);
        report.found += 1;
        if (!duplicate) report.logged += 1;
      }
      stillWatched.set(deployment.id, deployment.updated_at);
    }

    for (const { repo, awaited } of byRepo(deploys)) {
      const listed = await listFor(repo, awaited);
      if (!listed.ok) {
        report.problems.push({ repo, problem: listed.problem });
        continue;
      }
      for (const deployment of worthChecking(listed.value, awaited)) await check(repo, deployment);
    }
    seen = stillWatched;
    return report;
  };
}

function byRepo(deploys: readonly AwaitedDeploy[]): { repo: string; awaited: AwaitedDeploy[] }[] {
  const valid = deploys.filter(({ repo, sha }) => repoNameIn(repo) !== undefined && commit.test(sha));
  return [...Map.groupBy(valid, ({ repo }) => repoKey(repo)).values()].flatMap((awaited) =>
    awaited[0] === undefined ? [] : [{ repo: awaited[0].repo, awaited }],
  );
}

/** One per environment, and one per commit that only its own deployments count for. */
function narrower(awaited: readonly AwaitedDeploy[]): string[] {
  const filters = awaited.map(({ sha, environment, acceptDescendants }) =>
    acceptDescendants ? `environment=${encodeURIComponent(environment)}` : `sha=${sha}`,
  );
  return [...new Set(filters)];
}

function firstMergeOf(awaited: readonly AwaitedDeploy[]): number {
  return Math.min(...awaited.map(({ mergedAt }) => Date.parse(mergedAt))) - CLOCK_MS;
}

/**
 * Those of an awaited commit, and where a later one counts too, the newest others since the first merge: of the environment,
 * and of those elsewhere that have a status, which may be of the environment. Oldest first.
 */
function worthChecking(
  listed: readonly PolledDeployment[],
  awaited: readonly AwaitedDeploy[],
): PolledDeployment[] {
  const shas = new Set(awaited.map(({ sha }) => sha));
  const withLater = awaited.filter(({ acceptDescendants }) => acceptDescendants);
  const firstMerge = firstMergeOf(withLater);
  const isThere = ({ environment }: PolledDeployment): boolean =>
    withLater.some((one) => isSameEnvironment(one.environment, environment));
  const since = listed.filter(({ sha, created_at: at }) => !shas.has(sha) && Date.parse(at) >= firstMerge);
  const there = since.filter(isThere).slice(0, NEWEST_OTHERS);
  const elsewhere = since.filter((one) => !isThere(one) && one.updated_at !== one.created_at);
  const others = new Set([...there, ...elsewhere.slice(0, NEWEST_OTHERS)]);
  return listed.filter((deployment) => shas.has(deployment.sha) || others.has(deployment)).toReversed();
}

export type Watched = {
  repos: readonly string[];
  pullRequests: readonly { repo: string; number: number }[];
  deploys: readonly AwaitedDeploy[];
  /** Workers that claim a pull request which was not seen: in their repositories the newest ones are checked too. */
  claims: readonly UnseenClaim[];
};

export function createReconciler(
  options: ReconcileOptions & {
    gh: Gh;
    watched: () => Watched | Promise<Watched>;
    claimUnseen: (claim: UnseenClaim) => EventDraft | undefined;
    deploymentStates: (repo: string, id: number) => ReadonlySet<string> | undefined;
  },
): Rounds {
  const { gh, now, isCovered } = options;
  const reconcileDeploys = createDeployReconciler(options);
  let measuredAt = now();
  let polledEverything = 0;
  /** Repositories that were checked completely once: for others the log may not know what was already open. */
  const checkedBefore = new Set<string>();

  function measure({ pullRequests, repos }: Watched): void {
    const elapsedMs = now() - measuredAt;
    const each = { pullRequests: pullRequests.length, repos: repos.length, elapsedMs };
    polledEverything += callsOfPollingEverything(each);
    measuredAt += elapsedMs;
  }

  async function run({ deploys: withDeploys, everyRepo } = { deploys: true, everyRepo: false }) {
    const watched = await options.watched();
    measure(watched);
    const { pullRequests, claims } = watched;
    const claimed = new Set(claims.map(({ repo }) => repoKey(repo)));
    const uncovered = watched.repos.filter(
      (repo) =>
        everyRepo || !isCovered(repo) || !checkedBefore.has(repoKey(repo)) || claimed.has(repoKey(repo)),
    );
    const one = await reconcilePullRequests(options, { pullRequests, uncovered });
    const failed = new Set(one.problems.map(({ repo }) => repoKey(repo)));
    for (const repo of uncovered) if (!failed.has(repoKey(repo))) checkedBefore.add(repoKey(repo));
    // A merge that was just found also has a deployment to wait for, and one that was found proves its claim.
    const afterwards = await options.watched();
    const polled = new Set(uncovered.map(repoKey).filter((repo) => !failed.has(repo)));
    await reportUnseen(claims.filter(({ repo }) => polled.has(repoKey(repo))));
    const { deploys } = withDeploys ? afterwards : { deploys: [] };
    const other = await reconcileDeploys(deploys);
    return {
      checked: one.checked + other.checked,
      found: one.found + other.found,
      logged: one.logged + other.logged,
      problems: [...one.problems, ...other.problems],
    };
  }

  async function reportUnseen(claims: readonly UnseenClaim[]): Promise<void> {
    for (const claim of claims) {
      const unseen = options.claimUnseen(claim);
      if (unseen !== undefined) await options.append(unseen);
    }
  }

  return {
    run: singleFlight(run),
    meter() {
      const { calls } = gh.figures();
      return { made: calls, avoided: Math.max(polledEverything - calls, 0) };
    },
  };
}

/** Polls what the log knows. */
export function roundsOf(view: CodehostView): (parts: RoundParts) => Rounds {
  return ({ repos, ...parts }) =>
    createReconciler({
      ...parts,
      knownOf: view.knownOf,
      deploymentStates: view.deploymentStates,
      claimUnseen: view.claimUnseen,
      async watched() {
        await view.caughtUp();
        return {
          repos: repos(),
          pullRequests: view.pullRequests(),
          deploys: view.deploys(),
          claims: view.claims(),
        };
      },
    });
}
