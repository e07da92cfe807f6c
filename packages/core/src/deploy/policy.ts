// How deployments of a repository are verified, by `svc.deploy.<owner/repo>`. A repository without an entry skips the
// verification: a merged pull request is done. If the configuration cannot be read, the policy is unknown and the merge
// waits.
import type { DeployPolicy } from '../api/deploy.ts';
import type { ResolvedValue } from '../config/resolved-value.ts';
import type { Config } from '../config/schema/config.ts';
import { dispatchOf, type ProjectDispatch } from '../orchestrate/dispatch.ts';

export const defaultDeployPolicy: DeployPolicy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: true,
  acceptDescendants: true,
};

export const unknownDeployPolicy: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: null };

/** Environment names are case-insensitive, as on the code host. */
export function isSameEnvironment(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The policies of one project; `others` is unknown if part of its configuration cannot be read. */
export type ProjectPolicies = {
  deploy: Record<string, DeployPolicy>;
  others: 'default' | 'unknown';
  dispatch?: ProjectDispatch;
};

/** From a project's resolved configuration. An entry with any uncertain value is unknown as a whole. */
export function policiesOf(
  config: Config,
  values: readonly Pick<ResolvedValue, 'path' | 'source' | 'uncertain'>[],
  others: ProjectPolicies['others'],
): ProjectPolicies {
  const uncertain = new Set(
    values.flatMap(({ path, uncertain: isSo }) =>
      isSo && path[0] === 'svc' && path[1] === 'deploy' && path[2] !== undefined ? [path[2]] : [],
    ),
  );
  const deploy = Object.entries(config.svc.deploy).map(([repo, policy]): [string, DeployPolicy] => [
    repo,
    uncertain.has(repo) ? unknownDeployPolicy : policy,
  ]);
  const dispatch = dispatchOf(config, values);
  return { deploy: Object.fromEntries(deploy), others, ...(dispatch && { dispatch }) };
}

/** The first project that names the repository decides; owner and name are case-insensitive. */
export function deployPolicyFor(
  projects: Iterable<ProjectPolicies>,
  repo: string | null | undefined,
): DeployPolicy {
  const wanted = repo?.toLowerCase();
  let isUnknown = false;
  for (const { deploy, others } of projects) {
    const found = Object.entries(deploy).find(([name]) => name.toLowerCase() === wanted);
    if (found) return found[1];
    isUnknown ||= others === 'unknown';
  }
  return isUnknown ? unknownDeployPolicy : defaultDeployPolicy;
}
