// Starts the run that a label or an assignment in the tracker asked for, once: the run's name and its delivery id are made
// from the effect. What is refused here ends as an event with its reason; what may pass is tried again.

import type { Board } from '../../../kernel/board/board.ts';
import { Failure, type FailureCode } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { Outcome } from '../../../kernel/outbox/attempt.ts';
import { dispatchRefusal, type StartRun } from '../dispatch.ts';
import { beginRun } from './begin-run.ts';
import type { Orchestrator } from './orchestrator.ts';
import { type RunProjects, type ServedFolders, servedProject } from './run-project.ts';

export type StartFromTracker = (effect: StartRun) => Promise<Outcome>;

/** Failures that pass by themselves. */
const passing: ReadonlySet<FailureCode> = new Set([
  'state-not-ready',
  'log-not-writable',
  'busy',
  'file-busy',
]);

export function isPassing({ code }: Failure): boolean {
  return passing.has(code);
}

export function createStartFromTracker(options: {
  /** Throws while the log is still being read. */
  board: () => Board;
  reached: (seq: number) => Promise<void>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  projects: RunProjects;
  served: ServedFolders;
  orchestrator: Pick<Orchestrator, 'checkNow'>;
  now: () => Date;
}): StartFromTracker {
  const { board, reached, append, projects, served, orchestrator, now } = options;

  /** Resolves when the board has the run; rejects with a failure if it may not be started. */
  async function start(effect: StartRun, name: string): Promise<void> {
    const { ticket, because, by } = effect;
    const project = await servedProject(effect.project, served);
    const refusal = dispatchRefusal(board(), effect, project, now().getTime());
    if (refusal !== undefined) throw new Failure('not-allowed-now', refusal.reason, refusal.remedy);
    const request = { project, plan: { tickets: [ticket] }, name, by: `${by ?? 'unknown'}, ${because}` };
    const started = await beginRun({ request, board: board(), projects, now: now() });
    const { seq } = await append({ ...started, deliveryId: `dispatch:${effect.key}` });
    await reached(seq);
  }

  async function report(effect: StartRun, end: { run: string } | Failure): Promise<void> {
    const { key, ticket, repo, because, by, seq: line } = effect;
    const common = { because, ...(by !== null && { by }), line };
    const more = { deliveryId: `dispatch-end:${key}` };
    if (!(end instanceof Failure)) {
      await append(draft('workflow.ticket.dispatched', { ticket, repo }, { ...common, ...end }, more));
      return;
    }
    const { message, remedy } = end;
    // The person is one of those in the list.
    const detail = {
      ...common,
      invited: true,
      reason: message.replace(/\.$/, ''),
      ...(remedy && { remedy }),
    };
    await append(draft('workflow.ticket.dispatch_refused', { ticket, repo }, detail, more));
  }

  return async (effect) => {
    const run = `${effect.ticket}-${effect.seq}`;
    try {
      if (!board().runs.has(run)) await start(effect, run);
    } catch (error) {
      if (!(error instanceof Failure) || isPassing(error)) throw error;
      await report(effect, error);
      return { done: `refused: ${error.message}` };
    }
    await report(effect, { run });
    await orchestrator.checkNow();
    return { done: `started ${run}` };
  };
}
