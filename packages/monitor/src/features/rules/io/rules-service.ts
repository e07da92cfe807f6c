// The rules of this machine: enabled rules are followed, and any rule can be tested on the log.

import type { Logger } from 'pino';
import type { ConfigProblem } from '../../../kernel/config/problems.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { Since } from '../../../kernel/log/event-filter.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { createJqThreads } from '../../../kernel/log/jq-threads.ts';
import type { Metrics } from '../../../kernel/telemetry/metrics.ts';
import type { api } from '../../api.ts';
import type { Config } from '../../config.ts';
import { topics } from '../../topics.ts';
import type { Rule } from '../config.ts';
import { whatItDoes, whenItFires } from '../rules.ts';
import { type BackTest, backTest, filterProblem, filterProblems, selectRules } from './back-test.ts';
import { createRuleFollower, type FollowerReport } from './follow-rules.ts';

export type RuleTestRequest = { name: string | undefined; rule: Rule | undefined; since: Since };

export type Rules = {
  start: () => void;
  list: () => ApiAnswer<typeof api.listRules>;
  report: () => FollowerReport;
  /** An invalid filter is a configuration problem; its rule is not followed. */
  problems: readonly ConfigProblem[];
  test: (request: RuleTestRequest, signal: AbortSignal) => Promise<BackTest>;
  stop: () => Promise<void>;
};

/** The maximum that a route reads; the CLI reads all. */
const MOST_TESTED_LINES = 200_000;

export async function createRules(options: {
  config: Config;
  log: EventLog;
  eventsDir: string;
  metrics: Metrics;
  logger: Logger;
  now: () => number;
}): Promise<Rules> {
  const { log, logger } = options;
  const configured = options.config.svc.rules;
  const commands = Object.keys(options.config.svc.commands);
  // Their own thread: filtering events by hand must not delay rules.
  const jq = createJqThreads({ topics });
  const broken = await filterProblems(configured, jq.matches);
  for (const problem of broken) {
    logger.warn({ problem: problem.message }, 'configuration');
  }
  const enabled = configured.filter(
    ({ name, enabled: isOn }) => isOn && !broken.some(({ rule }) => rule === name),
  );
  const follower = createRuleFollower({
    rules: enabled,
    log,
    matches: jq.matches,
    now: options.now,
    onVerdict: (rule, verdict) =>
      options.metrics.rulesFired.add({ rule, outcome: verdict === 'fires' ? 'fired' : verdict }),
    onFailure: (error) => logger.error({ err: error }, 'following rules failed; retrying'),
  });
  let isTesting = false;

  return {
    start: follower.start,
    report: follower.report,
    problems: broken.map(filterProblem),
    list: () => ({
      rules: configured.map((rule) => {
        const { definition, since, fired, last } = follower.record(rule.name);
        const texts = { trigger: whenItFires(rule.when), actions: whatItDoes(rule.then) };
        return { ...rule, ...texts, since: definition === null ? null : since, fired, last };
      }),
      follower: follower.report(),
    }),
    async test({ name, rule, since }, signal) {
      if (isTesting) throw new Failure('busy', 'Rules are being tested already.', 'Try again in a moment.');
      isTesting = true;
      const own = createJqThreads({ topics });
      const { matches } = own;
      try {
        const rules = await selectRules({ configured, name, rule, commands, matches });
        return await backTest({
          rules,
          eventsDir: options.eventsDir,
          since,
          matches,
          signal,
          mostLines: MOST_TESTED_LINES,
        });
      } finally {
        isTesting = false;
        await own.close();
      }
    },
    async stop() {
      await follower.stop();
      await jq.close();
    },
  };
}
