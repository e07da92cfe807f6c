// Sends an agent a message when its ticket was changed: compares the text at the tracker with what the agent was given, and puts
// each change into the log once. The message follows from that line, through the outbox and the worker's inbox. A delivery
// about the ticket starts a look at once, and a poll that finds it changed. Each look is a call to the tracker, so a timer
// looks at all only after a start of the daemon and once an hour, for changes that neither reports.

import type { WallClock } from '@svc/lib/clock';
import { messageOf } from '@svc/lib/errors';
import { every, type Rounds } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { StateChange, StateFollower } from '../../../kernel/board/state-follower.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { RunProjects } from '../../runs/io/run-project.ts';
import type { RunPlan } from '../../runs/plan.ts';
import { isWatchedTicket } from '../../tracker/fold-ticket-text.ts';
import { hashOf, ours } from '../../tracker/io/ticket-given.ts';
import { digestOf, ticketChange } from '../../tracker/ticket-change.ts';
import type { Worker } from '../../workers/worker.ts';

/** Events gather meanwhile: one look is enough for a burst. */
const LOOK_EVERY_MS = 2_000;

const LOOK_AT_ALL_EVERY_MS = 3_600_000;

const AFTER_FAILURE_MS = 60_000;

export type TicketWatch = {
  start: () => void;
  /** A poll of the tracker found this issue, last changed then. */
  noteChanged: (issue: { identifier: string; updatedAt: string }) => void;
  /** Looks at the tickets that are due. */
  look: () => Promise<void>;
  stop: () => Promise<void>;
};

export function createTicketWatch(options: {
  state: Pick<StateFollower, 'board' | 'onChange' | 'reached'>;
  projects: Pick<RunProjects, 'of'>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  clock: WallClock;
  logger: Pick<Logger, 'warn' | 'error'>;
}): TicketWatch {
  const { state, projects, append, clock, logger } = options;
  /** Keys of workers, and from when on their ticket may be looked at. */
  const due = new Map<string, number>();
  /** When a polled ticket was last changed: a poll finds the newest change again. */
  const changedAt = new Map<string, string>();
  let lookAtAllFrom = 0;

  const watched = (): Worker[] =>
    [...state.board().workers.values()].filter((worker) => planOf(worker) !== undefined);

  function planOf(worker: Worker): RunPlan | undefined {
    const run = state.board().runs.get(worker.orchestrator);
    return isWatchedTicket(run, worker) ? (run?.plan ?? undefined) : undefined;
  }

  const noteLines = ({ lines }: StateChange): void => {
    for (const { event, scope } of lines) {
      if (!event.startsWith('tracker.issue.') && !event.startsWith('tracker.comment.')) continue;
      // Some deliveries of a tracker do not name the ticket.
      for (const { key, ticket } of watched())
        if (scope.ticket === undefined || scope.ticket === ticket) due.set(key, clock.now());
    }
  };

  async function lookAt(worker: Worker, plan: RunPlan): Promise<void> {
    const content = await (await projects.of(plan.project)).readTicket(worker.ticket);
    // Meanwhile it may have been given the new text.
    const given = state.board().workers.get(worker.key)?.given ?? null;
    if (content === null || given === null) return;
    const change = ticketChange(given, content, hashOf);
    if (change === undefined) return;
    const digest = digestOf(content, hashOf);
    const { orchestrator, ticket } = worker;
    const changed = draft(
      'orchestrator.ticket.changed',
      { orchestrator, ticket },
      { ...change, digest },
      ours,
    );
    const name = hashOf(JSON.stringify([given, digest]));
    const { seq } = await append({ ...changed, deliveryId: `ticket-changed:${worker.key}:${name}` });
    await state.reached(seq);
  }

  async function look(): Promise<void> {
    const now = clock.now();
    if (now >= lookAtAllFrom) {
      lookAtAllFrom = now + LOOK_AT_ALL_EVERY_MS;
      for (const { key } of watched()) if (!due.has(key)) due.set(key, now);
    }
    for (const [key, from] of due) {
      if (from > now) continue;
      due.delete(key);
      const worker = state.board().workers.get(key);
      const plan = worker && planOf(worker);
      if (worker === undefined || plan === undefined) continue;
      try {
        await lookAt(worker, plan);
      } catch (error) {
        due.set(key, now + AFTER_FAILURE_MS);
        logger.warn(
          { worker: key, reason: messageOf(error) },
          'a ticket could not be read: it is read again',
        );
      }
    }
  }

  let rounds: Rounds | undefined;
  let unsubscribe: (() => void) | undefined;
  return {
    start() {
      unsubscribe = state.onChange(noteLines);
      rounds = every(LOOK_EVERY_MS, look, (error) =>
        logger.error({ err: error }, 'tickets cannot be watched'),
      );
    },
    noteChanged({ identifier, updatedAt }) {
      const keys = watched().flatMap(({ key, ticket }) => (ticket === identifier ? [key] : []));
      if (keys.length === 0 || changedAt.get(identifier) === updatedAt) return;
      changedAt.set(identifier, updatedAt);
      for (const key of keys) due.set(key, clock.now());
    },
    async look() {
      await rounds?.runAfresh();
    },
    async stop() {
      unsubscribe?.();
      await rounds?.stop();
    },
  };
}
