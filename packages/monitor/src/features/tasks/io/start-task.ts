// Makes a ticket of a task and starts its run, each once. Before a ticket is created that is noted in the log, so after a
// crash it is looked for first; the run has the same name each time.

import type { Board } from '../../../kernel/board/board.ts';
import { Failure } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import type { Config } from '../../config.ts';
import { withKey } from '../../findings/findings.ts';
import { beginRun } from '../../runs/io/begin-run.ts';
import type { Orchestrator } from '../../runs/io/orchestrator.ts';
import { type RunProjects, type ServedFolders, servedProject } from '../../runs/io/run-project.ts';
import { isPassing } from '../../runs/io/start-from-tracker.ts';
import { type FiledTicket, NotFiled, type TicketDestination } from '../../tracker/io/tracker.ts';
import type { Task } from '../task.ts';
import { runOfTask } from '../task.ts';

export type StartTask = (effect: Extract<Effect, { kind: 'start-task' }>) => Promise<Outcome>;

export function createStartTask(options: {
  /** Throws while the log is still being read. */
  board: () => Board;
  reached: (seq: number) => Promise<void>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  projects: RunProjects;
  served: ServedFolders;
  filingOf: (config: Config) => TicketDestination;
  /** A UUID from words, always the same. */
  ticketKey: (...words: string[]) => string;
  orchestrator: Pick<Orchestrator, 'checkNow'>;
  now: () => Date;
}): StartTask {
  const { board, reached, append, projects, served, filingOf, ticketKey, orchestrator, now } = options;

  async function note(line: EventDraft): Promise<void> {
    const { seq } = await append(line);
    await reached(seq);
  }

  const taskOf = (key: string): Task | undefined => board().tasks.get(key);

  /** Its ticket, created at most once: what an earlier attempt has created is found by the key in its text. */
  async function fileAtTracker(task: Task, destination: TicketDestination): Promise<FiledTicket> {
    const key = ticketKey('task', task.key);
    const earlier =
      task.filingAt === null ? undefined : await destination.find(key, Date.parse(task.filingAt));
    if (earlier !== undefined) return earlier;
    await destination.prepare([]);
    await note(draft('workflow.task.filing', {}, { task: task.key }));
    const { title, body } = task;
    return destination.create({ key, title, text: withKey(body, key), labels: [], severity: 'medium' });
  }

  async function file(task: Task, project: string): Promise<void> {
    const { config } = await projects.of(project);
    const filed = task.local
      ? { filedAs: task.ticket ?? '', url: undefined }
      : await fileAtTracker(task, filingOf(config));
    const detail = { task: task.key, ...(filed.url !== undefined && { url: filed.url }) };
    await note(
      draft('workflow.task.filed', { ticket: filed.filedAs }, detail, {
        deliveryId: `task-filed:${task.key}`,
      }),
    );
  }

  /** Resolves when the board has the run; rejects with a failure if it may not be started. */
  async function start(task: Task, project: string): Promise<string> {
    const { ticket, agent, model, mode, base, by } = task;
    const run = runOfTask(task);
    if (!board().runs.has(run)) {
      const request = {
        project,
        plan: { tickets: [ticket ?? ''] },
        name: run,
        agent: agent ?? undefined,
        model: model ?? undefined,
        mode: mode ?? undefined,
        base: base ?? undefined,
        by,
      };
      const started = await beginRun({ request, board: board(), projects, now: now(), isChecked: true });
      await note({ ...started, deliveryId: `task-run:${task.key}` });
    }
    const scope = { ...(ticket !== null && { ticket }), orchestrator: run };
    await note(
      draft(
        'workflow.task.started',
        scope,
        { task: task.key, run },
        { deliveryId: `task-started:${task.key}` },
      ),
    );
    return run;
  }

  async function refuse(task: Task, message: string, remedy: string | undefined): Promise<Outcome> {
    const ticket = taskOf(task.key)?.ticket ?? null;
    const detail = { task: task.key, reason: message, ...(remedy !== undefined && { remedy }) };
    await note(
      draft('workflow.task.refused', ticket === null ? {} : { ticket }, detail, {
        deliveryId: `task-refused:${task.key}`,
      }),
    );
    return { done: `refused: ${message}` };
  }

  return async ({ task: key }) => {
    const task = taskOf(key);
    if (task === undefined || task.state === 'started' || task.state === 'refused')
      return { done: 'it has ended already' };
    try {
      const project = await servedProject(task.project, served);
      if (task.state === 'requested') await file(task, project);
      const run = await start(taskOf(key) ?? task, project);
      await orchestrator.checkNow();
      return { done: `started ${run}` };
    } catch (error) {
      // Whether there is a ticket is not known: it is looked for before another is created.
      if (error instanceof NotFiled && !error.certain)
        return { failed: [error.message, error.remedy ?? ''].join(' ').trim() };
      if (error instanceof NotFiled) return refuse(task, error.message, error.remedy);
      if (!(error instanceof Failure) || isPassing(error)) throw error;
      return refuse(task, error.message, error.remedy);
    }
  };
}
