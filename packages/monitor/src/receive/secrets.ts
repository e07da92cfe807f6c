// The secrets that deliveries are signed with. Only the environment variables that the configuration names are read.
import { type Config, type Environment, type FeedSecrets, SHORTEST_SECRET } from '@svc/core';
import type { FeedName } from './feed.ts';

export type Secrets = Record<FeedName, FeedSecrets>;

const isLong = ({ value }: { value: string }): boolean => value.length >= SHORTEST_SECRET;

/** Projects may name different variables: each of them is accepted. */
export function readSecrets(configs: readonly Config[], environment: Environment): Secrets {
  const named = (names: string[]): FeedSecrets => {
    const variables = [...new Set(names)];
    const given = variables.map((name) => ({ name, value: environment[name] ?? '' }));
    return {
      variables,
      values: [...new Set(given.filter(isLong).map(({ value }) => value))],
      short: given.filter((one) => one.value !== '' && !isLong(one)).map(({ name }) => name),
    };
  };
  return {
    codehost: named(configs.map(({ svc }) => svc.monitor.github.webhookSecretEnv)),
    tracker: named(configs.map(({ svc }) => svc.monitor.linear.webhookSecretEnv)),
  };
}
