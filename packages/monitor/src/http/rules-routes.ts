// GET /api/rules: the rules of this machine, and when each fired last. POST /api/rules/test: when rules would have
// fired on the log, also those that are off, and one that stands in no configuration yet.

import { type ApiAnswer, api, parseSince, Rule, type Since } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import type { RuleTestRequest } from '../rules/rules.ts';
import { whileClientWaits } from './client-waits.ts';
import { fieldsOf, textOf } from './request-fields.ts';

const DEFAULT_SINCE = '14d';

export function rulesRoutes(options: {
  list: () => ApiAnswer<typeof api.listRules>;
  test: (request: RuleTestRequest, signal: AbortSignal) => Promise<ApiAnswer<typeof api.testRules>>;
  now: () => number;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/rules', () => options.list());
    app.post('/api/rules/test', async (request, reply) => {
      const fields = fieldsOf(request.body, api.testRules.body);
      const name = textOf('name', fields.name, api.testRules.body.shape.name);
      const asked = { name, rule: ruleIn(fields.rule), since: sinceIn(fields.since, options.now()) };
      return whileClientWaits(reply, (signal) => options.test(asked, signal));
    });
    done();
  };
}

function ruleIn(value: unknown): Rule | undefined {
  if (value === undefined) return undefined;
  const parsed = Rule.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Failure('usage', `rule: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a rule'}.`);
}

function sinceIn(value: unknown, now: number): Since {
  const since = parseSince(textOf('since', value, api.testRules.body.shape.since) ?? DEFAULT_SINCE, now);
  if (since !== undefined) return since;
  throw new Failure('usage', 'since: expected a seq, an ISO time or a duration like 14d.');
}
