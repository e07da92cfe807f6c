// Tells of what comes after the merge: deployments, and whether the merged commit holds.
import * as codehost from './codehost-payloads.ts';
import type { PlannedTicket } from './product.ts';
import type { PullRequestTeller } from './pull-request-teller.ts';
import { type Told, tellInto } from './told.ts';

export function createShipTeller(
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
