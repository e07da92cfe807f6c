// A task becomes a ticket and a run. The request goes into the log first; what follows is done through the outbox, and
// the answer waits for it.
import { type Append, appendAndWait, boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { Asked } from '../../kernel/http/route.ts';
import { draft } from '../../kernel/log/event-line.ts';
import type { api } from '../api.ts';
import type { AskServices } from '../runs/io/ask-services.ts';
import { refuseUnready } from '../runs/io/begin-run.ts';
import { preflight } from '../runs/io/preflight.ts';
import { type RunProjects, type ServedFolders, servedProject } from '../runs/io/run-project.ts';
import { trackerOf } from '../tracker/tracker-of.ts';
import type { Task } from './task.ts';
import { localPrefix, readTask, runOfTask } from './task.ts';

const WAITED_MS = 60_000;

type Given = Asked<typeof api.startTask>['body'];

type Answer = ApiAnswer<typeof api.startTask>;

export type TaskParts = {
  state: StateAccess;
  /** Appends a line once per delivery id. */
  append: Append;
  projects: RunProjects;
  served: ServedFolders;
  askServices: AskServices;
  /** The prefixes of all served projects. */
  prefixes: () => readonly (string | undefined)[];
  /** Resolves when the effect has ended, or after the time. */
  settled: (key: string, timeoutMs: number) => Promise<{ lastError: string | null }>;
  now: () => Date;
  waitedMs?: number;
};

/** Starts a task and waits until its run has started, or for a minute. */
export function createTaskStart(options: TaskParts): (given: Given) => Promise<Answer> {
  const { state, projects } = options;

  const taskOf = (key: string): Task | undefined => boardOf(state).tasks.get(key);

  async function start(given: Given): Promise<Answer> {
    const key = given.key ?? crypto.randomUUID();
    // The first request with this key is the one that counts.
    const notes = taskOf(key) === undefined ? await request(key, given) : [];
    const { seq } = needed(taskOf(key));
    const { lastError } = await options.settled(`${seq}:start-task:${key}`, options.waitedMs ?? WAITED_MS);
    const task = needed(taskOf(key));
    if (task.state === 'refused') throw refusalOf(task);
    return answerOf(task, lastError, notes);
  }

  async function request(key: string, given: Given): Promise<Answer['notes']> {
    const read = readTask(given.text);
    if (!read.ok) throw new Failure('usage', read.problem, read.remedy);
    const { title, body } = read;
    const folder = await servedProject(given.project, options.served);
    const { config } = await projects.of(folder);
    const local = given.local || trackerOf(config).provider === undefined;
    const { agent, model, mode, base, by } = given;
    const { missing, notes } = await preflight(
      options,
      { project: folder, agent, model, mode, base, by },
      { task: local ? 'local' : 'tracker' },
    );
    refuseUnready(missing);
    const line = draft(
      'workflow.task.requested',
      {},
      {
        task: key,
        title,
        body,
        local,
        ...(local && { prefix: localPrefix(options.prefixes()) }),
        project: folder,
        by,
        ...(agent !== undefined && { agent }),
        ...(model !== undefined && { model }),
        ...(mode !== undefined && { mode }),
        ...(base !== undefined && { base }),
      },
      { deliveryId: `task:${key}` },
    );
    await appendAndWait(options, line);
    return notes;
  }

  return start;
}

function needed(task: Task | undefined): Task {
  if (task !== undefined) return task;
  throw new Failure(
    'state-not-ready',
    'The task is saved, but the board does not show it yet.',
    'It starts on its own. See it: svc board',
  );
}

function refusalOf({ ticket, reason, remedy }: Task): Failure {
  const created = ticket === null ? 'No ticket was created' : `${ticket} was created, but no run was started`;
  return new Failure('not-allowed-now', `${created}: ${reason ?? 'unknown'}`, remedy ?? undefined);
}

function answerOf(task: Task, lastError: string | null, notes: Answer['notes']): Answer {
  const { key, state, ticket, title, local, url } = task;
  const common = { key, ticket, title, local, url, notes };
  if (state === 'started') return { ...common, state, run: runOfTask(task), message: null };
  const why = lastError ?? 'it takes longer than usual';
  return { ...common, state: 'pending', run: null, message: why };
}
