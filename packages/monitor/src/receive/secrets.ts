// The secrets that deliveries are signed with. Configuration names environment variables; only those are read.
import type { Config, Environment } from '@svc/core';
import type { FeedName } from './feed.ts';

export type FeedSecrets = {
  /** The variables that configuration names, of all projects. */
  variables: string[];
  /** The values of those that are set. */
  values: string[];
  /** The variables of those that are so short that somebody could try them all. */
  short?: string[];
};

/** Those that svc makes have 64 characters. */
export const SHORTEST_SECRET = 16;

export type Secrets = Record<FeedName, FeedSecrets>;

/** Several projects may name different variables: any of them may sign. */
export function readSecrets(configs: readonly Config[], environment: Environment): Secrets {
  const named = (names: string[]): FeedSecrets => {
    const variables = [...new Set(names)];
    const values = variables.map((name) => environment[name] ?? '').filter((value) => value !== '');
    const short = variables.filter((name) => {
      const { length } = environment[name] ?? '';
      return length > 0 && length < SHORTEST_SECRET;
    });
    return { variables, values: [...new Set(values)], short };
  };
  return {
    codehost: named(configs.map(({ svc }) => svc.monitor.github.webhookSecretEnv)),
    tracker: named(configs.map(({ svc }) => svc.monitor.linear.webhookSecretEnv)),
  };
}
