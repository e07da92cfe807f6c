// What jq says of the filters of rules, for verbs that check a configuration. Without such filters jq is not started.
import type { Config, ConfigProblem } from '@svc/core';
import { createJqThreads } from '../log/jq-threads.ts';
import { filterProblem, filterProblems } from '../rules/filter-problems.ts';

export async function ruleFilterProblems(config: Config | undefined): Promise<ConfigProblem[]> {
  const rules = config?.svc.rules ?? [];
  if (rules.every(({ when }) => when.filter === undefined)) return [];
  const jq = createJqThreads();
  try {
    return (await filterProblems(rules, jq.matches)).map(filterProblem);
  } finally {
    await jq.close();
  }
}
