// Tells what happens to one ticket: its state, its worker, its pull request, its deployments. Each word becomes a
// fact at a minute of the day.

import * as codehost from './codehost-payloads.ts';
import type { Person, PlannedTicket } from './product.ts';
import { branchOf, createPullRequestTeller, type PullRequestTeller } from './pull-request-teller.ts';
import { type Told, tellInto } from './told.ts';
import { createWorkTeller } from './work-teller.ts';

// Tells of what needs a person, and of what the person says to it.

function createAttentionTeller(told: Told, { ticket, repo, run }: PlannedTicket) {
  const { voice } = told;
  const orchestrator = run?.id ?? 'none';
  const tell = tellInto(told);
  return {
    asks(at: number, reason: string, message: string, severity: string, remedy?: string): void {
      tell(at, {
        way: 'event',
        draft: () => ({
          event: 'comms.attention',
          scope: { ticket, repo, orchestrator },
          detail: { reason, message: voice.comment(message), severity, ...(remedy && { remedy }) },
        }),
      });
    },
    acknowledged(at: number, reason: string, by: Person): void {
      const scope = { ticket, orchestrator };
      tell(at, {
        way: 'event',
        draft: () => ({ event: 'comms.attention_acknowledged', scope, detail: { reason, by } }),
      });
    },
    snoozed(at: number, reason: string, by: Person, minutes: number): void {
      const scope = { ticket, orchestrator };
      tell(at, {
        way: 'event',
        draft: (date) => ({
          event: 'comms.attention_snoozed',
          scope,
          detail: { reason, by, until: new Date(date.getTime() + minutes * 60_000).toISOString() },
        }),
      });
    },
  };
}

// Tells of what comes after the merge: deployments, and whether the merged commit holds.

function createShipTeller(
  told: Told,
  planned: PlannedTicket,
  { delivered, mergeSha: shaOfMerge }: PullRequestTeller,
) {
  const { voice, timeOf } = told;
  const { ticket, repo, run } = planned;
  const orchestrator = run?.id ?? 'none';
  const tell = tellInto(told);
  return {
    /** A deployment of the merge; without `end` it still runs. */
    deploys(
      at: number,
      environment: string,
      end: { state: string; after: number; description?: string } | null,
      found = false,
    ): void {
      const deploy = {
        id: told.nextDeployment(),
        sha: shaOfMerge(),
        environment,
        createdAt: () => timeOf(at),
      };
      const statusAt = (minute: number, state: string, description: string, poll = found): void =>
        delivered(
          minute,
          'deployment_status',
          (date) =>
            codehost.deploymentStatusPayload(
              repo,
              deploy,
              { state, description: voice.comment(description) },
              date,
              voice,
            ),
          poll,
        );
      if (!found) {
        delivered(at, 'deployment', () => codehost.deploymentPayload(repo, deploy));
        statusAt(at + 0.3, 'in_progress', 'The pipeline has begun');
      }
      if (end !== null) statusAt(at + end.after, end.state, end.description ?? `It ended as ${end.state}`);
    },
    verified(at: number, outcome: 'passed' | 'failed', summary: string, more: object = {}): void {
      const mergeSha = shaOfMerge();
      const scope = {
        ticket,
        repo,
        orchestrator,
        worker: `${orchestrator}-${ticket}`,
        mergeSha,
        sha: mergeSha,
      };
      tell(at, {
        way: 'event',
        draft: () => ({ event: 'orchestrator.verification.started', scope, detail: {} }),
      });
      tell(at + 2, {
        way: 'event',
        draft: () => ({
          event: `orchestrator.verification.${outcome}`,
          scope,
          detail: {
            summary,
            testCommand: 'npm test',
            exitCode: outcome === 'passed' ? 0 : 1,
            durationMs: 94_000,
            ...more,
          },
        }),
      });
    },
  };
}

export type ChangeTeller = ReturnType<typeof createChangeTeller>;

export function createChangeTeller(told: Told, planned: PlannedTicket) {
  const work = createWorkTeller(told, planned, branchOf(told, planned));
  const pullRequest = createPullRequestTeller(told, planned, work);
  return {
    ...work,
    ...pullRequest,
    ...createShipTeller(told, planned, pullRequest),
    ...createAttentionTeller(told, planned),
  };
}
