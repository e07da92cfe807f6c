// Which rules have an invalid filter. Only jq can check that, in a thread with a deadline: a filter that never ends must
// not block loading a configuration.
import type { ConfigProblem, Rule, RuleProblem } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { Failure } from '../errors.ts';
import type { Matches } from './ask-jq.ts';

export async function filterProblems(
  rules: readonly Rule[],
  matches: Matches,
): Promise<(RuleProblem & { rule: string })[]> {
  const problems: (RuleProblem & { rule: string })[] = [];
  for (const { name, when } of rules) {
    if (when.filter === undefined) continue;
    try {
      await matches(when.filter, []);
    } catch (error) {
      const remedy = error instanceof Failure ? error.remedy : undefined;
      problems.push({
        rule: name,
        message: `rule ${name}: ${messageOf(error)}`,
        remedy: remedy ?? `Fix when.filter, then test it: svc rules test ${name}`,
      });
    }
  }
  return problems;
}

/** The same as a configuration problem. */
export function filterProblem({ message, remedy }: RuleProblem): ConfigProblem {
  const source = { file: 'configuration', key: 'svc.rules' };
  return { severity: 'error', code: 'contradiction', ...source, message, remedy };
}
