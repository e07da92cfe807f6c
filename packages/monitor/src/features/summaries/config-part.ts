// What is incomplete in the keys of summaries.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { formatKey } from '../../kernel/config/key-path.ts';
import { allOrNone, type ConfigProblem, placeOf } from '../../kernel/config/problems.ts';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';

const briefing = allOrNone(['ai.gateway', 'ai.apiKey']);

export const summariesConfig: ConfigPart = {
  check: (values) => [...briefing(values), ...providersHaveKeys(values)],
};

function providersHaveKeys(values: readonly ResolvedValue[]): ConfigProblem[] {
  const given = new Set(values.filter(({ value }) => value !== undefined).map(({ path }) => formatKey(path)));
  return values
    .filter(
      ({ path, value }) =>
        /^svc\.ai\.providers\..+\.apiKeyEnv$/.test(formatKey(path)) &&
        value === undefined &&
        // A base URL in the global or secrets file does not oblige a project to name a key.
        !given.has(formatKey([...path.slice(0, -1), 'baseUrl'])),
    )
    .map((value) => ({
      ...placeOf(value),
      severity: 'error',
      code: 'incomplete',
      message: 'is required for each provider.',
    }));
}
