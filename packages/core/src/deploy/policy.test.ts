import { expect, test } from 'vitest';
import type { DeployPolicy } from '../api/deploy.ts';
import { defaultDeployPolicy, deployPolicyFor, type ProjectPolicies } from './policy.ts';

const strict: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
const slow: DeployPolicy = { ...strict, timeoutSec: 7200 };
const projects: ProjectPolicies[] = [
  { deploy: { 'Acme/Web': strict }, others: 'default' },
  { deploy: { 'acme/web': slow }, others: 'default' },
];

/** Written out: the policy without any configuration. */
const skipping: DeployPolicy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: true,
  acceptDescendants: true,
};

test.each<[string, string | null | undefined, DeployPolicy]>([
  ['the first project that names it decides', 'acme/web', strict],
  ['an unknown repository skips the verification', 'acme/other', skipping],
  ['no repository skips the verification', null, skipping],
  ['an absent repository skips the verification', undefined, skipping],
])('%s', (_, repo, policy) => {
  expect(deployPolicyFor(projects, repo)).toEqual(policy);
});

test('with an unreadable project, the policy of repositories that no other project names is unknown', () => {
  const all: ProjectPolicies[] = [{ deploy: {}, others: 'unknown' }, ...projects];
  expect(deployPolicyFor(all, 'acme/web')).toBe(strict);
  expect(deployPolicyFor(all, 'acme/other').skipDeployVerification).toBeNull();
  expect(deployPolicyFor(all, null).skipDeployVerification).toBeNull();
});
