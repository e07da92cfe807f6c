import { expect, test } from 'vitest';
import { type DeployPolicy, defaultDeployPolicy, deployPolicyFor } from './policy.ts';

const strict: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
const patient: DeployPolicy = { ...strict, timeoutSec: 7200 };
const configs = [{ svc: { deploy: { 'Acme/Web': strict } } }, { svc: { deploy: { 'acme/web': patient } } }];

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
  expect(deployPolicyFor(configs as unknown as Parameters<typeof deployPolicyFor>[0], repo)).toEqual(policy);
});
