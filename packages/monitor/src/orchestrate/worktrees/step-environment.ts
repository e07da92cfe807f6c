// What a step sees: the environment that svc was started in, as the person's own shell would give it, without our
// secrets and without what would steer git elsewhere; and the six variables.
import { type Config, type Environment, type SetupVariables, secretVariables } from '@svc/core';
import { gitEnvironment } from './git.ts';

export function stepEnvironment(
  environment: Environment,
  config: Config,
  variables: SetupVariables,
): Record<string, string> {
  return { ...gitEnvironment(environment, secretVariables(config)), ...variables };
}
