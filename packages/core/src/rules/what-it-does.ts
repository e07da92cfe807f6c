// What a rule does, in words: for the list of rules and for a back-test.
import type { Rule, RuleThen } from '../config/schema/rules.ts';

/** `attention (high): ABC-1 waits`, `run post-note` */
export function whatItDoes({ notify, attention, run }: RuleThen): string[] {
  return [
    ...(notify ? [`notify (${notify.severity}): ${notify.message}`] : []),
    ...(attention ? [`attention (${attention.severity}): ${attention.message}`] : []),
    ...(run === undefined ? [] : [`run ${run}`]),
  ];
}

/** `codehost.pr.merged of acme/web, where .scope.pr > 7` */
export function whenItFires({ event, ticket, repo, filter }: Rule['when']): string {
  const of = [ticket, repo].filter((part) => part !== undefined);
  const where = filter === undefined ? '' : `, where ${filter}`;
  return `${event}${of.length === 0 ? '' : ` of ${of.join(' in ')}`}${where}`;
}

/** `at most 1 in 10m for each ticket` */
export function limitWords({ atMost, per }: Rule['limit']): string {
  return `at most ${atMost} in ${per} for each ticket`;
}
