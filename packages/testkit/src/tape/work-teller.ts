// Tells of a ticket in the tracker and of the worker that takes it through its phases.
import type { WorkerStatus } from '@svc/core';
import type { Random } from '../random.ts';
import { agentInit, agentSays, agentUses } from './agent-output.ts';
import type { SignalPatch } from './fact.ts';
import type { Person, PlannedTicket } from './product.ts';
import { type Told, tellInto } from './told.ts';
import { commentPayload, issuePayload, type TicketStateName } from './tracker-payloads.ts';

const phases: Partial<Record<WorkerStatus, string>> = {
  researching: 'research',
  planning: 'planning',
  implementing: 'inProgress',
  'pr-created': 'inReview',
};

export type WorkTeller = ReturnType<typeof createWorkTeller>;

export function createWorkTeller(told: Told, planned: PlannedTicket, branch: string) {
  const { random, voice, timeOf } = told;
  const { ticket, repo, run } = planned;
  const orchestrator = run?.id ?? 'none';
  const tell = tellInto(told);
  let ticketState: TicketStateName | null = null;
  let cost = { usd: 0, inputTokens: 0, outputTokens: 0 };
  let startedAt: number | null = null;

  function moves(at: number, to: TicketStateName): void {
    const from = ticketState;
    ticketState = to;
    tell(at, {
      way: 'tracker',
      type: 'Issue',
      payload: (date) => issuePayload(planned, to, from, date, voice),
    });
  }

  function works(at: number, status: WorkerStatus, more: (at: Date) => SignalPatch = () => ({})): void {
    startedAt ??= at;
    const began = startedAt;
    cost = spend(cost, random);
    const spent = cost;
    const alive = isAlive(status) ? { pid: told.livingPid } : {};
    tell(at, {
      way: 'signal',
      orchestrator,
      ticket,
      patch: (date) => ({
        ticket,
        orchestrator,
        workerName: `${orchestrator}-${ticket}`,
        status,
        phase: phases[status] ?? status,
        startedAt: timeOf(began).toISOString(),
        updatedAt: date.toISOString(),
        repo,
        branch,
        wave: waveOf(planned),
        worktreePath: `/home/mira/svc/wt/tideline/${ticket}`,
        cost: spent,
        phaseTimestamps: { [status]: date.toISOString() },
        ...alive,
        ...more(date),
      }),
    });
    const phase = phases[status];
    if (phase !== undefined)
      tell(at + 0.05, {
        way: 'event',
        draft: () => ({
          event: 'workflow.ticket.phase_changed',
          scope: { ticket, repo, orchestrator },
          detail: { to: phase },
        }),
      });
  }

  return {
    moves,
    works,
    created(at: number, first: TicketStateName = 'Todo'): void {
      moves(at, first);
    },
    comments(at: number, by: Person, body: string): void {
      tell(at, {
        way: 'tracker',
        type: 'Comment',
        payload: (date) => commentPayload(planned, { by, body }, date, voice),
      });
    },
    /** From its dispatch through the given statuses, each with the minutes that it takes. */
    walks(from: number, steps: readonly (readonly [WorkerStatus, number])[]): number {
      let at = from;
      works(at, 'dispatched');
      moves(at + 0.1, 'In Progress');
      tell(at + 0.2, { way: 'output', orchestrator, ticket, lines: [agentInit(ticket)] });
      at += 0.6;
      for (const [status, minutes] of steps) {
        works(at, status);
        const lines = [agentSays(ticket, at, status, cost), agentUses(ticket, at + 0.1, status, cost)];
        tell(at + 0.1, { way: 'output', orchestrator, ticket, lines });
        at += minutes * (0.8 + random.next() * 0.4);
      }
      return at;
    },
    dies(at: number): void {
      tell(at, { way: 'died', orchestrator, ticket });
    },
  };
}

function waveOf({ run, ticket }: PlannedTicket): number | null {
  const waves: readonly (readonly string[])[] = run?.waves ?? [];
  const index = waves.findIndex((wave) => wave.includes(ticket));
  return index < 0 ? null : index + 1;
}

const living: ReadonlySet<WorkerStatus> = new Set([
  'dispatched',
  'researching',
  'planning',
  'implementing',
  'validating',
  'shipping',
]);

function isAlive(status: WorkerStatus): boolean {
  return living.has(status);
}

type Cost = { usd: number; inputTokens: number; outputTokens: number };

function spend(before: Cost, random: Random): Cost {
  const input = 20_000 + random.below(160_000);
  const output = 1_200 + random.below(9_000);
  const usd = before.usd + (input * 3 + output * 15) / 1_000_000;
  return {
    usd: Math.round(usd * 10_000) / 10_000,
    inputTokens: before.inputTokens + input,
    outputTokens: before.outputTokens + output,
  };
}
