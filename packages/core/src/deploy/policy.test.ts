import { expect, test } from 'vitest';
import type { DeployPolicy } from '../api/deploy.ts';
import { defaultDeployPolicy, deployPolicyFor, type ProjectPolicies } from './policy.ts';

const strict: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
const patient: DeployPolicy = { ...strict, timeoutSec: 7200 };
const projects: ProjectPolicies[] = [
  { deploy: { 'Acme/Web': strict }, others: 'default' },
  { deploy: { 'acme/web': patient }, others: 'default' },
];

/** In full: what holds where nobody configured anything. */
const skipping: DeployPolicy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: true,
  acceptDescendants: true,
};

test.each<[string, string | null | undefined, DeployPolicy]>([
  ['the first project that names it decides', 'acme/web', strict],
  ['an unknown repository skips the proof', 'acme/other', skipping],
  ['no repository skips the proof', null, skipping],
  ['an absent repository skips the proof', undefined, skipping],
])('%s', (_, repo, policy) => {
  expect(deployPolicyFor(projects, repo)).toEqual(policy);
});

test('a project that cannot be read may mean any repository that no other one names', () => {
  const all: ProjectPolicies[] = [{ deploy: {}, others: 'unknown' }, ...projects];
  expect(deployPolicyFor(all, 'acme/web')).toBe(strict);
  expect(deployPolicyFor(all, 'acme/other').skipDeployVerification).toBeNull();
  expect(deployPolicyFor(all, null).skipDeployVerification).toBeNull();
});
