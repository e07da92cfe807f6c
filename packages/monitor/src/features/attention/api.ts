// Attention items: what needs a person, and what that person decides about it.
import { z } from 'zod';
import { apiRoute, by, duration, text } from '../../kernel/http/api-route.ts';
import { AttentionEntry, AttentionItem } from './entity.ts';

export type AttentionView = z.infer<typeof AttentionView>;
const AttentionView = z
  .object({
    open: z.array(AttentionEntry).describe('Most urgent first'),
    snoozed: z.array(AttentionEntry).describe('Hidden until `snoozedUntil`'),
  })
  .meta({ id: 'AttentionView' });

const AttentionAnswer = z
  .object({
    ok: z.literal(true),
    item: AttentionItem.nullable().describe('The item after the change; null when it is resolved'),
  })
  .meta({ id: 'AttentionAnswer' });

const AttentionUndone = z
  .object({
    ok: z.literal(true),
    action: z.enum(['acknowledge', 'snooze', 'hand-over', 'resolve']).describe('What was undone'),
    item: AttentionItem.nullable().describe('The item after that; null when svc has resolved it meanwhile'),
  })
  .meta({ id: 'AttentionUndone' });

const id = text(500).describe('the item id');
const SNOOZE = 'a duration of at most 30d, like 2h';
const snooze = duration(SNOOZE, { least: 1, most: 30 * 86_400_000 }).describe(SNOOZE);

const action = {
  method: 'POST',
  tag: 'attention',
  answer: AttentionAnswer,
  failures: ['usage', 'unknown-attention', 'state-not-ready', 'log-not-writable'],
} as const;

export const attentionRoutes = {
  getAttention: apiRoute({
    method: 'GET',
    path: '/api/attention',
    tag: 'attention',
    summary: 'List what needs a person, most urgent first',
    verbs: ['svc attention', 'svc attention list', 'svc monitor status'],
    query: z.strictObject({}),
    answer: AttentionView,
    failures: ['usage', 'state-not-ready'],
  }),
  acknowledgeAttention: apiRoute({
    ...action,
    path: '/api/attention/ack',
    summary: 'Acknowledge an item: someone has seen it and is working on it',
    verbs: ['svc attention ack'],
    body: z.strictObject({ id, by }),
  }),
  snoozeAttention: apiRoute({
    ...action,
    path: '/api/attention/snooze',
    summary: 'Snooze an item until later',
    verbs: ['svc attention snooze'],
    body: z.strictObject({ id, by, for: snooze }),
  }),
  handOverAttention: apiRoute({
    ...action,
    path: '/api/attention/hand-over',
    summary: 'Hand an item over to someone',
    verbs: ['svc attention hand-over'],
    body: z.strictObject({ id, by, to: z.string().trim().min(1).max(100), note: text(1_000).optional() }),
  }),
  resolveAttention: apiRoute({
    ...action,
    path: '/api/attention/resolve',
    summary: 'Resolve an item. Refused while svc sees that its cause exists',
    verbs: ['svc attention resolve'],
    body: z.strictObject({ id, by }),
    failures: [...action.failures, 'not-allowed-now'],
  }),
  undoAttention: apiRoute({
    ...action,
    path: '/api/attention/undo',
    summary: 'Undo the last acknowledgement, snooze, hand-over or resolution of an item',
    verbs: ['svc attention undo'],
    body: z.strictObject({ id, by }),
    answer: AttentionUndone,
    failures: [...action.failures, 'not-allowed-now'],
  }),
};
