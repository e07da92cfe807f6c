// One ticket: why it is in its state, whether it shipped, its agent's output, and a person's decision on its deploy.
import { WorkerStatus } from '@svc/contract/signal-file';
import { z } from 'zod';
import { apiRoute, by, OfRun, RunName, Seq, TicketParams, Time, text } from '../../kernel/http/api-route.ts';

export type Why = z.infer<typeof Why>;
const Why = z
  .object({
    ticket: z.string(),
    orchestrator: z.string().nullable(),
    status: z.enum([...WorkerStatus.options, 'unknown']).describe('unknown: no run works on this ticket'),
    since: Time.nullable(),
    rule: z.string().describe('The rule behind the status, as a sentence'),
    facts: z.array(
      z.object({
        at: Time.nullable(),
        seq: Seq.nullable(),
        source: z.enum(['observed', 'fetched', 'claimed', 'person']),
        text: z.string(),
      }),
    ),
    waitsFor: z.string().nullable(),
    until: Time.nullable(),
    shipped: z.boolean().nullable().describe('The verdict of the receipt. Null: unknown'),
    contradictions: z.array(z.string()),
    unknown: z.array(z.string()).describe('What is not known'),
    from: z
      .object({ id: z.string(), machine: z.string(), person: z.string(), receivedAt: Time })
      .exactOptional()
      .describe('The machine of the team that published it; absent: this machine knows it itself'),
  })
  .meta({ id: 'Why' });

export type Receipt = z.infer<typeof Receipt>;
const Receipt = z
  .object({
    ticket: z.string(),
    orchestrator: z.string().nullable(),
    status: z.string(),
    links: z.array(
      z.object({
        link: z.enum(['ticket', 'pull-request', 'checks', 'merge', 'deployment']),
        value: z.string().nullable(),
        grade: z
          .enum(['observed', 'fetched', 'claimed', 'missing', 'not-required'])
          .describe(
            'How it is known: seen in a delivery, fetched by a poll, or only claimed in the signal file',
          ),
        at: Time.nullable(),
        seq: Seq.nullable(),
        url: z.string().exactOptional(),
      }),
    ),
    shipped: z.boolean().nullable().describe('Null: unknown'),
    missing: z.string().nullable().describe('What is missing, as a sentence; null if it shipped'),
    next: z.string().nullable().describe('What would change it'),
    flagged: z.array(z.string()).describe('Reasons not to accept this receipt as proof'),
  })
  .meta({ id: 'Receipt' });

export type WorkerOutput = z.infer<typeof WorkerOutput>;
const WorkerOutput = z
  .object({
    ticket: z.string(),
    orchestrator: z.string(),
    exists: z.boolean(),
    file: z.string(),
    size: z.int().describe('Size of the file in bytes'),
    from: z.int().describe('Byte offset of the first returned line'),
    to: z.int().describe('Byte offset after the last line; pass as `after` to continue'),
    restarted: z.boolean().describe('The file became shorter, so it was read from its start'),
    lines: z.array(
      z.object({
        offset: z.int(),
        kind: z.enum(['text', 'tool', 'result', 'session', 'other', 'unreadable']),
        text: z.string(),
        ok: z.boolean().nullable(),
        cut: z.boolean(),
      }),
    ),
    errors: z.string().describe('The last lines of its standard error as plain text'),
  })
  .meta({ id: 'WorkerOutput' });

const ofWorker = { tag: 'workers', params: TicketParams } as const;
const asked = { ...ofWorker, method: 'GET', query: z.strictObject(OfRun) } as const;

export const workerRoutes = {
  getWhy: apiRoute({
    ...asked,
    path: '/api/workers/{ticket}/why',
    summary: 'Explain the state of a ticket: the rule, the facts, what it waits for, what is not known',
    query: z.strictObject({
      ...OfRun,
      machine: text(100).optional().describe('the agent of this machine of the team, by name or id'),
    }),
    verbs: ['svc why'],
    answer: Why,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
  getReceipt: apiRoute({
    ...asked,
    path: '/api/workers/{ticket}/receipt',
    summary: 'Show whether a ticket shipped, link by link, and how each link is known',
    verbs: ['svc receipt'],
    answer: Receipt,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
  getWorkerOutput: apiRoute({
    ...ofWorker,
    method: 'GET',
    path: '/api/workers/{ticket}/output',
    summary: "Show a ticket's agent output: the newest lines, or from a byte offset",
    verbs: ['svc worker output'],
    query: z.strictObject({
      orchestrator: RunName.optional().describe('the agent of this run; default: the newest'),
      after: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('the byte offset to continue from: `to` of the previous answer'),
      limit: z.int().min(1).max(1_000).default(200).describe('lines; default: 200'),
    }),
    answer: WorkerOutput,
    failures: ['usage', 'unknown-ticket', 'state-not-ready', 'file-unusable'],
  }),
  decideDeploy: apiRoute({
    ...ofWorker,
    method: 'POST',
    path: '/api/workers/{ticket}/deploy',
    summary: 'Retry or accept a deploy',
    description:
      'retry: wait for another deployment, with a new budget and deadline. accept: mark the ticket as done without proof.',
    verbs: ['svc deploy retry', 'svc deploy accept'],
    body: z.strictObject({
      action: z.enum(['retry', 'accept']),
      by,
      note: text(2_000).optional(),
      ...OfRun,
    }),
    answer: z.object({
      ok: z.literal(true),
      action: z.enum(['retry', 'accept']),
      why: Why.describe('The state after the decision'),
    }),
    failures: ['usage', 'unknown-ticket', 'not-allowed-now', 'state-not-ready', 'log-not-writable'],
  }),
};
