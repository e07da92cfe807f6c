// What a worker keeps of its agent, for the log, the board and the API: one definition for all of them.
import { z } from 'zod';

export const agentStates = [
  'starting',
  'running',
  'needs-permission',
  'needs-input',
  'idle',
  'paused',
  'ended',
] as const;
export const optionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
const Amounts = {
  context: z
    .object({ used: z.number(), size: z.number() })
    .nullable()
    .describe('Tokens in its context window; null: the agent does not report it'),
  tokens: z
    .object({ input: z.number(), output: z.number() })
    .nullable()
    .describe('Null: the agent does not report it'),
  cost: z
    .object({ amount: z.number(), currency: z.string() })
    .nullable()
    .describe('Null: the agent does not report it'),
};

export const AgentRequest = z.object({
  request: z.string().describe('Its id, for the answer'),
  kind: z.enum(['permission', 'input']),
  title: z.string().describe('What the agent wants to do, or its question'),
  tool: z.string().nullable().describe('The id of the tool call that it is for'),
  toolKind: z.string().nullable().describe('As the agent reports it: read, edit, execute, fetch, …'),
  paths: z.array(z.string()),
  command: z.string().nullable(),
  options: z.array(z.object({ kind: z.enum(optionKinds), name: z.string() })),
  fields: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        type: z.enum(['text', 'number', 'flag', 'choice']),
        choices: z.array(z.string()),
        required: z.boolean(),
      }),
    )
    .describe('Of a question: what has to be answered'),
  cut: z
    .boolean()
    .optional()
    .describe('It is too long to be shown whole: its start and end are, and it cannot be allowed'),
});
export type AgentRequest = z.infer<typeof AgentRequest>;

export const AgentCost = z
  .object({
    usd: z.number().nullable().describe('Null: unknown'),
    estimated: z.boolean().describe('Some of it is estimated from tokens and list prices'),
    partial: z.boolean().describe('Some of it is not known: it cost more'),
    inputTokens: z.int().nullable(),
    outputTokens: z.int().nullable(),
  })
  .meta({ id: 'AgentCost' });
export type Waited = z.infer<typeof Waited>;
export const Waited = z
  .object({
    since: z.iso
      .datetime({ offset: true })
      .nullable()
      .describe('When the wait began that has not ended; null: it does not wait'),
    ms: z.number().describe('Of all waits that have ended'),
    days: z
      .array(z.object({ day: z.string(), ms: z.number() }))
      .readonly()
      .describe('The newest days (UTC) of these waits'),
  })
  .meta({ id: 'Waited' });

export type AgentCost = z.infer<typeof AgentCost>;

/** On the board, from the log. */
export const WorkerAgent = z
  .object({
    attempt: z.int().describe('Counts the starts of the ticket’s agent, from 1'),
    name: z.string().describe('Its name in svc.orchestration.agents, or the program of the command line'),
    version: z.string().nullable(),
    protocol: z.boolean().describe('False: it runs as a command line that svc cannot talk to'),
    reason: z.string().nullable().describe('Why it runs as a command line'),
    state: z.enum(agentStates).nullable().describe('Null: the agent cannot report it'),
    since: z.iso.datetime({ offset: true }),
    sessionId: z.string().nullable().describe('The agent’s own id of the session'),
    message: z.string().nullable().describe('Its last message'),
    doing: z.string().nullable().describe('The tool that it runs; null: none'),
    mode: z.string().nullable().describe('Its permission mode'),
    model: z.string().nullable(),
    images: z.boolean().optional().describe('It takes images in messages'),
    ...Amounts,
    costOf: z
      .enum(['process', 'session'])
      .describe('What the reported cost covers: this attempt, or its session'),
    open: z.array(AgentRequest).describe('Requests that wait for an answer'),
    limit: z
      .object({
        attempt: z.int(),
        turn: z.int(),
        text: z.string().describe('As the agent reports it'),
        at: z.iso.datetime({ offset: true }),
        until: z.iso.datetime().nullable().describe('When it ends; null: not reported'),
        resumeAt: z.iso.datetime().nullable().describe('When svc continues; null: only a person does'),
        number: z.int().describe('How often in a row, from 1'),
        endedAt: z.iso.datetime({ offset: true }).nullable().describe('Null: the agent waits for its end'),
        resumed: z.boolean().describe('svc has continued because it was over'),
      })
      .nullable()
      .describe('The provider’s usage limit that was reached last'),
    stopped: z
      .object({ by: z.string(), at: z.iso.datetime({ offset: true }) })
      .nullable()
      .describe('A person stopped it, and it got no message since'),
    suspended: z
      .object({ at: z.iso.datetime({ offset: true }), minutes: z.int() })
      .optional()
      .describe(
        'Its process was ended after this long without work; the next message starts it again with its conversation',
      ),
    problem: z.string().nullable(),
  })
  .meta({ id: 'WorkerAgent' });
export type WorkerAgent = z.infer<typeof WorkerAgent>;

// What the agent cost.

/** The latest report of one attempt. */
export type AttemptCost = {
  attempt: number;
  /** Attempts with the same one report one sum; null: the attempt reports its own. */
  sum: string | null;
  usd: number | null;
  tokens: { input: number; output: number } | null;
  model: string | null;
};

export type Spent = {
  attempts: readonly AttemptCost[];
  /** By day in UTC, the newest ones. */
  days: readonly { day: string; usd: number }[];
};

export const nothingSpent: Spent = { attempts: [], days: [] };
