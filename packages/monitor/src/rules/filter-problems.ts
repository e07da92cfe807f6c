// Which rules have a filter that jq does not take. Only jq can tell, in a thread with a deadline: a filter that never
// ends must not hold up whoever loads a configuration.
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
      const told = error instanceof Failure ? error.remedy : undefined;
      problems.push({
        rule: name,
        message: `rule ${name}: ${messageOf(error)}`,
        remedy: told ?? `Mend when.filter and try it: svc rules test ${name}`,
      });
    }
  }
  return problems;
}

/** The same as a problem of the configuration. */
export function filterProblem({ message, remedy }: RuleProblem): ConfigProblem {
  const place = { file: 'configuration', key: 'svc.rules' };
  return { severity: 'error', code: 'contradiction', ...place, message, remedy };
}
