// One ticket: why it is in its state, whether it shipped, its way through time, what its agent said; and a person's
// decision on its deploy.
import { z } from 'zod';
import { WorkerStatus } from '../runs/signal-file.ts';
import { apiRoute, by, OfRun, RunName, Seq, TicketParams, Time, text } from './route.ts';

export type Why = z.infer<typeof Why>;
const Why = z
  .object({
    ticket: z.string(),
    orchestrator: z.string().nullable(),
    status: z.enum([...WorkerStatus.options, 'unknown']).describe('unknown: no run has a worker for it'),
    since: Time.nullable(),
    rule: z.string().describe('The rule that made the state, in words'),
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
    contradictions: z.array(z.string()),
    unknown: z.array(z.string()).describe('What nobody knows'),
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
          .describe('How it is known'),
        at: Time.nullable(),
        seq: Seq.nullable(),
        url: z.string().exactOptional(),
      }),
    ),
    shipped: z.boolean().nullable().describe('Null: nobody can tell'),
    flagged: z.array(z.string()).describe('What a reader should know before taking the answer for proof'),
  })
  .meta({ id: 'Receipt' });

export type Trace = z.infer<typeof Trace>;
const Trace = z
  .object({
    ticket: z.string(),
    orchestrator: z.string().nullable(),
    now: Time,
    from: Time.nullable(),
    to: Time.nullable(),
    lines: z.int().describe('How many lines it was made from'),
    cut: z.boolean().describe('There are older lines, which were left out'),
    spans: z.array(
      z.object({
        id: z.string(),
        kind: z.enum([
          'phase',
          'wait',
          'pull-request',
          'checks',
          'review',
          'merge',
          'deployment',
          'verification',
        ]),
        label: z.string(),
        state: z.enum(['running', 'succeeded', 'failed', 'ended']),
        start: Time,
        end: Time.nullable().describe('Null while it goes on'),
        startSeq: Seq,
        endSeq: Seq.nullable(),
        reason: z.string().nullable(),
        url: z.string().nullable(),
      }),
    ),
    axis: z
      .array(z.object({ from: Time, to: Time, folded: z.boolean() }))
      .describe('The time axis; folded where nothing happened for hours'),
  })
  .meta({ id: 'Trace' });

export type WorkerOutput = z.infer<typeof WorkerOutput>;
const WorkerOutput = z
  .object({
    ticket: z.string(),
    orchestrator: z.string(),
    exists: z.boolean(),
    file: z.string(),
    size: z.int().describe('Of the file, in bytes'),
    from: z.int().describe('Where the lines begin in it'),
    to: z.int().describe('Where they end; ask again after this'),
    restarted: z.boolean().describe('The file has become shorter: it is read from its start'),
    lines: z.array(
      z.object({
        offset: z.int(),
        kind: z.enum(['text', 'tool', 'result', 'session', 'other', 'unreadable']),
        text: z.string(),
        ok: z.boolean().nullable(),
        cut: z.boolean(),
      }),
    ),
    errors: z.string().describe('The last lines of its standard error, as plain text'),
  })
  .meta({ id: 'WorkerOutput' });

const ofWorker = { tag: 'workers', params: TicketParams } as const;
const asked = { ...ofWorker, method: 'GET', query: z.strictObject(OfRun) } as const;

export const workerRoutes = {
  getWhy: apiRoute({
    ...asked,
    path: '/api/workers/{ticket}/why',
    summary: 'Why a ticket is in its state: the rule, the facts, what it waits for, what is not known',
    verbs: ['svc why'],
    answer: Why,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
  getReceipt: apiRoute({
    ...asked,
    path: '/api/workers/{ticket}/receipt',
    summary: 'Whether a ticket shipped, link by link, and how each is known',
    verbs: ['svc receipt'],
    answer: Receipt,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
  getTrace: apiRoute({
    ...asked,
    path: '/api/workers/{ticket}/trace',
    summary: 'The way of a ticket through time',
    verbs: ['svc trace'],
    answer: Trace,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
  getWorkerOutput: apiRoute({
    ...ofWorker,
    method: 'GET',
    path: '/api/workers/{ticket}/output',
    summary: 'What the agent of a ticket said: the newest lines, then on from a byte',
    verbs: ['svc worker output'],
    query: z.strictObject({
      orchestrator: RunName.optional().describe('the worker of this run; default: the newest'),
      after: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('the byte to go on from: `to` of the last answer'),
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
    description: 'retry: try again, with a new budget and deadline. accept: it is done, by this decision.',
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
