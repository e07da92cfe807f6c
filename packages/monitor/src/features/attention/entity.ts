// An attention item as the API shows it.
import { z } from 'zod';
import { key } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';

const attentionFields = {
  id: z.string().describe('<run or ->/<ticket or feed or session or ->/<reason>'),
  orchestrator: z.string().nullable(),
  ticket: z.string().nullable(),
  feed: z.string().nullable(),
  session: z.string().nullable().describe('The key of the session that it is about'),
  reason: z.string(),
  message: z.string(),
  remedy: z.string().nullable(),
  severity: z.string(),
  openedAt: Time,
  openedSeq: Seq,
  evidence: z.array(Seq).describe('The events that raised it, newest last, at most 20'),
  times: z.int(),
  acknowledged: z.object({ by: z.string(), at: Time }).nullable(),
  snoozedUntil: Time.nullable(),
  reportedBy: z
    .enum(['svc', 'helper'])
    .describe('helper: another program reported it, and svc has not verified it'),
  handedOver: z
    .object({
      to: z.string(),
      by: z.string(),
      at: Time,
      note: z.string().nullable(),
      pending: z
        .literal(true)
        .exactOptional()
        .describe('Another member asked for it, and no machine of that person has it yet'),
    })
    .nullable(),
};

export type AttentionItem = z.infer<typeof AttentionItem>;

export const AttentionItem = z.object(attentionFields).meta({
  id: 'AttentionItem',
});

export type AttentionEntry = z.infer<typeof AttentionEntry>;

export const AttentionEntry = z
  .object({
    ...attentionFields,
    ageMs: z.number().nonnegative(),
    machine: z
      .string()
      .exactOptional()
      .describe('The machine of the team that handed it over to this person'),
    person: z.string().exactOptional().describe('The person of that machine'),
  })
  .meta({ id: 'AttentionEntry' });

export const AttentionOnBoard = z.object({ key, ...attentionFields }).meta({ id: 'AttentionOnBoard' });
