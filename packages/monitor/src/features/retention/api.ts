// Old data: what the policy removes, what it keeps and why.
import { z } from 'zod';
import { apiRoute, by, Time } from '../../kernel/http/api-route.ts';
import { retentionKinds } from './topics.ts';

const kind = z.enum(retentionKinds);

const bytes = z.int().nullable().describe('Null: unknown');

export type RetentionItem = z.infer<typeof RetentionItem>;

const RetentionItem = z
  .object({
    kind,
    name: z.string(),
    path: z.string(),
    bytes,
    changedAt: Time.nullable().describe('Null: unknown'),
    remove: z.boolean().describe('The policy removes it'),
    reason: z.string().describe('Why it is removed or kept'),
  })
  .meta({ id: 'RetentionItem' });

const RetentionEnd = z.object({
  removed: z.array(RetentionItem),
  failed: z.array(RetentionItem).describe('Not removed although the policy removes them, with the reason'),
});

export type RetentionEnd = z.infer<typeof RetentionEnd>;

export type Retention = z.infer<typeof Retention>;

const Retention = z
  .object({
    automatic: z.boolean().describe('Whether the daemon removes by itself'),
    totals: z.array(
      z.object({
        kind,
        setting: z.string().nullable().describe('The key of the policy; null: it is never removed'),
        days: z.int().nullable().describe('Removed when unchanged for so long; null: never'),
        items: z.int(),
        bytes,
      }),
    ),
    items: z.array(RetentionItem),
    last: z
      .object({ at: Time, removed: z.int(), failed: z.array(RetentionItem) })
      .nullable()
      .describe('The last removal since the daemon started'),
  })
  .meta({ id: 'Retention' });

export const retentionRoutes = {
  getRetention: apiRoute({
    method: 'GET',
    path: '/api/retention',
    tag: 'retention',
    summary: 'List worktrees, runs, journals, archives and logs, and which of them the policy removes',
    verbs: ['svc retention', 'svc doctor'],
    query: z.strictObject({}),
    answer: Retention,
    failures: ['usage', 'state-not-ready'],
  }),
  applyRetention: apiRoute({
    method: 'POST',
    path: '/api/retention',
    tag: 'retention',
    summary: 'Remove what the policy removes; each is checked again right before',
    verbs: ['svc retention'],
    body: z.strictObject({ by }),
    answer: RetentionEnd,
    failures: ['usage', 'state-not-ready'],
  }),
};
