// Whether the rules and their commands can work.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { type ConfigProblem, placeOf } from '../../kernel/config/problems.ts';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import type { Rule } from './config.ts';
import { problemsOfRules } from './rules.ts';

export const rulesConfig: ConfigPart = { check: rulesCanWork };

function rulesCanWork(values: readonly ResolvedValue[]): ConfigProblem[] {
  const ofCommands = values.filter(({ path }) => path[1] === 'commands');
  const complete = ofCommands.filter(({ path, value }) => path.at(-1) === 'argv' && value !== undefined);
  const names = new Set(complete.map(({ path }) => path[2] ?? ''));
  const rules = values.filter(({ key }) => key === 'svc.rules');
  return [
    // Only a value that is used counts, not one in a file that may not set it.
    ...ofCommands
      .filter(({ path, source }) => source.kind === 'file' && !names.has(path[2] ?? ''))
      .map((value): ConfigProblem => {
        const message = 'is set, but the command has no argv.';
        return { ...placeOf(value), severity: 'error', code: 'incomplete', message };
      }),
    ...rules.flatMap((value) =>
      problemsOfRules(value.value as readonly Rule[], names).map((problem): ConfigProblem => {
        return { ...placeOf(value), severity: 'error', code: 'contradiction', ...problem };
      }),
    ),
  ];
}
