// The read keys of the relay channels. Configuration names environment variables; only those are read. A
// channel of the public relay has none.
import { basename } from 'node:path';
import type { Config, Environment } from '@svc/core';
import { relayReadKeyFile } from '../config/locate.ts';

export type ReadKey = {
  variable: string;
  value: string | undefined;
  /** The name of the file that the variable is filled from, in the configuration's folder. */
  fileName: string;
};

type Feed = 'codehost' | 'tracker';

/** By feed; the global file names one variable for each, whatever the project. */
export function readKeyVariables(configs: readonly Config[]): Record<Feed, string[]> {
  const named = (pick: (config: Config) => string): string[] => [...new Set(configs.map(pick))];
  return {
    codehost: named(({ svc }) => svc.monitor.github.relayReadKeyEnv),
    tracker: named(({ svc }) => svc.monitor.linear.relayReadKeyEnv),
  };
}

/** Undefined where there is no configuration at all. An empty variable is none. */
export function readKeyOf(
  configs: readonly Config[],
  environment: Environment,
  feed: Feed,
): ReadKey | undefined {
  const [variable] = readKeyVariables(configs)[feed];
  if (variable === undefined) return undefined;
  const value = environment[variable]?.trim();
  return {
    variable,
    value: value === '' ? undefined : value,
    fileName: basename(relayReadKeyFile('', feed)),
  };
}
