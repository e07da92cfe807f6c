// Whether the names in `svc.team.allow` can allow anything.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { type ConfigProblem, isPlainWord, placeOf } from '../../kernel/config/problems.ts';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import { type CommandAllowances, isAllowanceName } from './command.ts';

export const teamConfig: ConfigPart = { check: allowancesAreTyped };

/** Members choose their names, so `kim` alone could become the machine of somebody else. */
function allowancesAreTyped(values: readonly ResolvedValue[]): ConfigProblem[] {
  const value = values.find(({ key }) => key === 'svc.team.allow');
  if (value?.value === undefined) return [];
  return Object.keys(value.value as CommandAllowances)
    .filter((name) => !isAllowanceName(name))
    .map((name): ConfigProblem => {
      const shown = isPlainWord(name) ? name : '<name>';
      const message = `${JSON.stringify(name)} is a person or a machine: it allows nothing.`;
      const remedy = `Write person:${shown}, machine:${shown}, or id:<id> with an id of: svc team members`;
      return { ...placeOf(value), severity: 'error', code: 'wrong-name', message, remedy };
    });
}
