// What can be wrong with rules beyond their shape: a rule that could never fire, or that could not do what it says.
// Whether jq takes a filter only jq can tell; that is asked where it runs.
import type { Rule } from '../config/schema/rules.ts';
import { impossibleTopicIn } from '../log/event-filter.ts';
import { suggestTopic, topicsMatching } from '../log/topics.ts';
import { nearest } from '../nearest.ts';
import { isRuleTopic, placeholders, unknownPlaceholder } from './firing.ts';

export type RuleProblem = { message: string; remedy: string };

const SEE_TOPICS = 'See the topics: svc events topics';

/** `commands`: the names that `svc.commands` has. */
export function problemsOfRules(rules: readonly Rule[], commands: ReadonlySet<string>): RuleProblem[] {
  const twice = rules.filter(({ name }, index) => rules.findIndex((other) => other.name === name) < index);
  return [
    ...twice.map(({ name }) => ({
      message: `has two rules with the name ${name}.`,
      remedy: 'Give one of them another name.',
    })),
    ...rules.flatMap((rule) => problemsOfRule(rule, commands)),
  ];
}

export function problemsOfRule(rule: Rule, commands: ReadonlySet<string>): RuleProblem[] {
  const { name, when, then } = rule;
  const problems: RuleProblem[] = [];
  const wrong = (message: string, remedy: string): void => {
    problems.push({ message: `rule ${name}: ${message}`, remedy });
  };
  const topics = topicsMatching(when.event);
  if (topics.length === 0) {
    const suggestion = suggestTopic(when.event);
    wrong(
      `no event can have the topic ${when.event}.`,
      suggestion === undefined ? SEE_TOPICS : `Did you mean ${suggestion}?`,
    );
  } else if (topics.every(isRuleTopic)) {
    wrong(`no rule fires on ${when.event}: rules made these lines.`, 'Name another event.');
  }
  const impossible = when.filter === undefined ? undefined : impossibleTopicIn(when.filter);
  if (impossible !== undefined)
    wrong(`its filter asks for the topic ${impossible}, which no event can have.`, SEE_TOPICS);
  if (then.run !== undefined && !commands.has(then.run)) {
    const suggestion = nearest(then.run, commands);
    wrong(
      `there is no command ${then.run} in svc.commands.`,
      suggestion === undefined
        ? `Add it: svc config set svc.commands.${then.run}.argv '["<program>"]'`
        : `Did you mean ${suggestion}?`,
    );
  }
  for (const text of [then.notify?.message, then.attention?.message]) {
    const unknown = text === undefined ? undefined : unknownPlaceholder(text);
    if (unknown !== undefined)
      wrong(`nothing stands for {${unknown}} in a message.`, `There are {${placeholders.join('}, {')}}.`);
  }
  return problems;
}
