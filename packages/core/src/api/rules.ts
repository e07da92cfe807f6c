// Rules: what is done when a line of a kind comes, and when they would have fired.
import { z } from 'zod';
import { Rule } from '../config/schema/rules.ts';
import { apiRoute, Seq, Time, text } from './route.ts';

export const RuleFollower = z.object({
  mode: z.enum(['off', 'reading', 'following']),
  active: z.int().describe('Rules that are on'),
  behind: z.int().describe('Durable lines that were not looked at yet'),
  problem: z.string().nullable(),
});

const ListedRule = Rule.extend({
  trigger: z.string().describe('When it fires'),
  actions: z.array(z.string()).describe('What it does'),
  since: Seq.nullable().describe('The line that switched it on; null while it is off'),
  fired: z.int(),
  last: z.object({ line: Seq, at: Time, ticket: z.string().nullable() }).nullable(),
});

const BackTest = z
  .object({
    lines: z.int(),
    from: Time.nullable(),
    to: Time.nullable(),
    complete: z.boolean().describe('False: it ended at the most lines that it may read'),
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
              .describe('What it would have done; empty when its limit was reached'),
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
    summary: 'The rules of this machine, and when each fired last',
    verbs: ['svc rules list'],
    query: z.strictObject({}),
    answer: z.object({ rules: z.array(ListedRule), follower: RuleFollower }).meta({ id: 'RuleList' }),
    failures: ['usage'],
  }),
  testRules: apiRoute({
    method: 'POST',
    path: '/api/rules/test',
    tag: 'rules',
    summary: 'When rules would have fired on the log, also those that are off',
    body: z.strictObject({
      name: text(100).optional().describe('one rule; default: all'),
      rule: Rule.optional().describe('a rule that stands in no configuration yet'),
      since: text(100).prefault('14d').describe('a seq, an ISO time, or how long ago; default: 14d'),
    }),
    answer: BackTest,
    failures: ['usage', 'filter-too-slow', 'unknown-rule', 'busy'],
  }),
};
