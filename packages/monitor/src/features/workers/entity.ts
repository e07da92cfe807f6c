// A worker as the API shows it.
import { WorkerPhase } from '@svc/contract/signal-file';
import { z } from 'zod';
import { key, last } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { AgentCost, Waited, WorkerAgent } from './agent-fields.ts';
import { deployFields } from './deploy-fields.ts';
import { recallCauses } from './reaction-causes.ts';

export type WorkerView = z.infer<typeof Worker>;

export const Worker = z
  .object({
    key,
    orchestrator: z.string().describe('The run'),
    ticket: z.string(),
    name: z.string(),
    statusSince: Time,
    statusSeq: Seq.describe('The event that set the status'),
    ...deployFields,
    phase: WorkerPhase.nullable(),
    repo: z.string().nullable().describe('owner/name'),
    branch: z.string().nullable(),
    wave: z.int().nullable(),
    pr: z.object({ number: z.int(), url: z.string().nullable() }).nullable(),
    process: z
      .object({
        state: z.enum(['alive', 'dead', 'unknown']),
        since: Time,
        seq: Seq,
        reviving: z.literal(true).exactOptional().describe('A new process is about to start'),
        stderr: z
          .string()
          .exactOptional()
          .describe('For a dead process: the last lines of its standard error'),
      })
      .describe('The state of its process'),
    corrupt: z
      .object({ path: z.string(), problem: z.string(), seq: Seq, at: Time.nullable().default(null) })
      .nullable()
      .describe('Set while its signal file cannot be read'),
    removed: z.boolean().describe('Its signal file was deleted'),
    verification: z
      .object({
        state: z.enum(['running', 'passed', 'failed']),
        sha: z.string().nullable(),
        summary: z.string().nullable(),
        advisory: z.boolean().describe('True: a failure does not block anything'),
        remediation: z.string().nullable().describe('The ticket or finding filed about a failure'),
        seq: Seq,
        at: Time.nullable().default(null),
      })
      .nullable()
      .describe('The verification of its merge commit'),
    retriedAt: Time.nullable().describe('When a person last restarted it'),
    reactions: z
      .object({ checks: z.array(z.string()).readonly(), review: z.array(z.string()).readonly() })
      .readonly()
      .describe('Ids of the failed checks and reviews that were reported to it'),
    recall: z
      .object({ cause: z.enum(recallCauses), at: Time, seq: Seq })
      .nullable()
      .describe('Set while an agent has to be started to handle a failed check, a review or a message'),
    recalls: z.int(),
    agent: WorkerAgent.nullable().describe('Its agent; null: none was started yet'),
    error: z.string().nullable(),
    cost: AgentCost.nullable().describe('Of all attempts of its agent; null: unknown'),
    costByDay: z
      .array(z.object({ day: z.string(), usd: z.number() }))
      .readonly()
      .exactOptional()
      .describe('The newest days (UTC) of its cost; absent: only a total is known'),
    waited: Waited.exactOptional().describe(
      'How long its agents have waited for people; absent: not reported',
    ),
    attempts: z.int().describe('Failed deployments'),
    budget: z.int().describe('How many may fail before a person has to decide'),
    pullRequest: z.string().nullable().describe('The linked pull request, owner/name#number'),
    pullRequestKey: z.string().nullable().describe('Its key in pullRequests'),
    rule: z.string().describe('Why it has this status, as a sentence'),
    waitsFor: z.string().nullable(),
    until: Time.nullable(),
    contradictions: z.array(z.string()).describe('Where the facts disagree'),
    needs: z
      .array(z.string())
      .default([])
      .describe('The reasons why it needs a person, from its state: not from attention items'),
    ...last,
  })
  .meta({ id: 'Worker' });
