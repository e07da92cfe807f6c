// What is known of an agent, for the log, the board and the API: one definition for all of them.

import { z } from 'zod';
import { AgentRequest } from '../workers/agent-fields.ts';
import { imageTypes } from './images.ts';

/** The name of an agent in `svc.orchestration.agents`. */
export const AgentName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'expected a-z, 0-9 and dashes, at most 31 characters, a letter first');

export const toolStatuses = ['pending', 'in_progress', 'completed', 'failed', 'cut-off'] as const;

/** Unknown: the verifier gave no answer that counts. Only `done` means that a ticket is done. */
export const verifierVerdicts = ['done', 'not-done', 'unclear', 'unknown'] as const;

/** An image of a message. Its data is in a file of its own, never in the log. */
export const AttachedImage = z
  .object({
    name: z.string().max(200),
    type: z.enum(imageTypes),
    bytes: z.int().nonnegative(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .meta({ id: 'AttachedImage' });
export type AttachedImage = z.infer<typeof AttachedImage>;

const item = { id: z.string(), rev: z.int().describe('Grows with each change of the conversation') };
export const ConversationItem = z
  .discriminatedUnion('kind', [
    z.object({
      ...item,
      kind: z.literal('prompt'),
      text: z.string(),
      by: z.string().nullable(),
      images: z.array(AttachedImage).exactOptional().describe('Sent with it'),
    }),
    z.object({ ...item, kind: z.enum(['message', 'thought']), text: z.string(), cut: z.boolean() }),
    z.object({
      ...item,
      kind: z.literal('tool'),
      title: z.string(),
      toolKind: z.string(),
      status: z.enum(toolStatuses),
      paths: z.array(z.string()),
      command: z.string().nullable(),
      output: z.string(),
      exitCode: z.int().nullable(),
      diffs: z.array(z.object({ path: z.string(), before: z.string(), after: z.string() })),
      cut: z.boolean().describe('Output or diffs were shortened'),
    }),
    z.object({
      ...item,
      kind: z.literal('plan'),
      entries: z.array(z.object({ content: z.string(), status: z.string() })),
    }),
    z.object({
      ...item,
      kind: z.literal('request'),
      request: AgentRequest,
      answer: z.string().nullable().describe('Null while it is open'),
      by: z.string().nullable(),
    }),
    z.object({
      ...item,
      kind: z.literal('turn'),
      ok: z.boolean(),
      reason: z.string(),
      by: z.string().exactOptional().describe('Who stopped it'),
    }),
  ])
  .meta({ id: 'ConversationItem' });
export type ConversationItem = z.infer<typeof ConversationItem>;
