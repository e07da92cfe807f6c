// How a merge in a repository is proven, by `svc.deploy.<owner/repo>`. A repository without an entry skips
// the proof: its merged pull request is done.
import type { Config } from '../config/schema/config.ts';

export type DeployPolicy = Config['svc']['deploy'][string];

export const defaultDeployPolicy: DeployPolicy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: true,
  acceptDescendants: true,
};

/** The first project that names the repository decides; owner and name compare without case. */
export function deployPolicyFor(
  configs: readonly Pick<Config, 'svc'>[],
  repo: string | null | undefined,
): DeployPolicy {
  const wanted = repo?.toLowerCase();
  for (const { svc } of configs) {
    const found = Object.entries(svc.deploy).find(([name]) => name.toLowerCase() === wanted);
    if (found) return found[1];
  }
  return defaultDeployPolicy;
}
