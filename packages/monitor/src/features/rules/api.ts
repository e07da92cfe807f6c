// Rules: actions on matching events, and tests of rules against the log.
import { z } from 'zod';
import { apiRoute, Seq, Time, text } from '../../kernel/http/api-route.ts';
import { Rule } from './config.ts';

export const RuleFollower = z.object({
  mode: z.enum(['off', 'reading', 'following']),
  active: z.int().describe('How many rules are enabled'),
  behind: z.int().describe('Durable events that were not checked yet'),
  problem: z.string().nullable(),
});

const ListedRule = Rule.extend({
  trigger: z.string().describe('When it fires, as a sentence'),
  actions: z.array(z.string()).describe('What it does'),
  since: Seq.nullable().describe('The event that enabled it; null while it is disabled'),
  fired: z.int(),
  last: z.object({ line: Seq, at: Time, ticket: z.string().nullable() }).nullable(),
});

const BackTest = z
  .object({
    lines: z.int(),
    from: Time.nullable(),
    to: Time.nullable(),
    complete: z.boolean().describe('False: the test stopped at its limit of events'),
    rules: z.array(
      z.object({
        name: z.string(),
        enabled: z.boolean(),
        fires: z.int(),
        limited: z.int(),
        failed: z.int(),
        times: z.array(
          z.object({
            at: Time,
            line: Seq,
            event: z.string(),
            ticket: z.string().nullable(),
            repo: z.string().nullable(),
            outcome: z.enum(['fires', 'limited', 'failed']),
            actions: z
              .array(z.string())
              .describe('What it would have done; empty when its rate limit suppressed it'),
            problem: z.string().exactOptional(),
          }),
        ),
        leftOut: z.int(),
      }),
    ),
  })
  .meta({ id: 'BackTest' });

export const rulesRoutes = {
  listRules: apiRoute({
    method: 'GET',
    path: '/api/rules',
    tag: 'rules',
    summary: 'List the rules and when each last fired',
    verbs: ['svc rules list'],
    query: z.strictObject({}),
    answer: z.object({ rules: z.array(ListedRule), follower: RuleFollower }).meta({ id: 'RuleList' }),
    failures: ['usage'],
  }),
  testRules: apiRoute({
    method: 'POST',
    path: '/api/rules/test',
    tag: 'rules',
    summary: 'Test rules, enabled or not, against past events',
    body: z.strictObject({
      name: text(100).optional().describe('one rule; default: all'),
      rule: Rule.optional().describe('a rule that is not in the configuration yet'),
      since: text(100).prefault('14d').describe('a seq, an ISO time, or how long ago; default: 14d'),
    }),
    answer: BackTest,
    failures: ['usage', 'filter-too-slow', 'unknown-rule', 'busy'],
  }),
};
