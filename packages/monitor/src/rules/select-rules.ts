// The rules of a back-test: all configured rules, one by name, or one that is not configured yet.
import { problemsOfRule, type Rule } from '@svc/core';
import { Failure } from '../errors.ts';
import type { Matches } from './ask-jq.ts';
import { filterProblems } from './filter-problems.ts';

/** Refuses a rule that could not work, with the reason. */
export async function selectRules({
  configured,
  name,
  rule,
  commands,
  matches,
}: {
  configured: readonly Rule[];
  name: string | undefined;
  rule: Rule | undefined;
  commands: Iterable<string>;
  matches: Matches;
}): Promise<Rule[]> {
  const asked = rule === undefined ? [...configured] : [rule];
  const rules = name === undefined ? asked : asked.filter((candidate) => candidate.name === name);
  if (name !== undefined && rules.length === 0)
    throw new Failure('unknown-rule', `There is no rule ${name}.`, 'List them: svc rules list');
  const names = new Set(commands);
  const problems = [
    ...rules.flatMap((candidate) => problemsOfRule(candidate, names)),
    ...(await filterProblems(rules, matches)),
  ];
  const [problem] = problems;
  if (problem !== undefined) throw new Failure('usage', problem.message, problem.remedy);
  return rules;
}
