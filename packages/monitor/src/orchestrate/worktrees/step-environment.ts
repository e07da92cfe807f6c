// What a step sees: the environment that svc was started in, as the person's own shell would give it, without our
// secrets and without what would steer git elsewhere; and the six variables.
import type { Config, Environment, SetupVariables } from '@svc/core';
import { withoutGitLocals } from './git.ts';

export function stepEnvironment(
  environment: Environment,
  config: Config,
  variables: SetupVariables,
): Record<string, string> {
  const given = withoutGitLocals(environment);
  for (const name of secretNames(config)) delete given[name];
  return { ...given, ...variables };
}

/** The variables that hold webhook secrets, read keys of the relay and keys of model providers. */
function secretNames({ svc }: Config): string[] {
  const keys = Object.values(svc.ai.providers).map((provider) => provider?.apiKeyEnv);
  const feeds = [svc.monitor.github, svc.monitor.linear].flatMap((feed) => [
    feed.webhookSecretEnv,
    feed.relayReadKeyEnv,
  ]);
  return [...feeds, ...keys].filter((name) => name !== undefined);
}
