import { expect, test } from 'vitest';
import { type DeployPolicy, defaultDeployPolicy, deployPolicyFor } from './policy.ts';

const strict: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
const patient: DeployPolicy = { ...strict, timeoutSec: 7200 };
const configs = [{ svc: { deploy: { 'Acme/Web': strict } } }, { svc: { deploy: { 'acme/web': patient } } }];

test.each<[string, string | null | undefined, DeployPolicy]>([
  ['the first project that names it decides', 'acme/web', strict],
  ['an unknown repository skips the proof', 'acme/other', defaultDeployPolicy],
  ['no repository skips the proof', null, defaultDeployPolicy],
  ['an absent repository skips the proof', undefined, defaultDeployPolicy],
])('%s', (_, repo, policy) => {
  expect(deployPolicyFor(configs as unknown as Parameters<typeof deployPolicyFor>[0], repo)).toBe(policy);
});
