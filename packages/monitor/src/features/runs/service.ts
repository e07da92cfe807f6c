// What a person can do with runs: check, start, pause, resume, cancel and retry.

import type { SignalFile } from '@svc/contract/signal-file';
import { type Append, appendAndWait, boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { Asked } from '../../kernel/http/route.ts';
import { draft } from '../../kernel/log/event-line.ts';
import type { DetailOf, Topic } from '../../kernel/log/topics.ts';
import type { api } from '../api.ts';
import { trackerName, trackerOf } from '../tracker/tracker-of.ts';
import type { SignalStore } from '../workers/io/signal-store.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import { isUnmerged } from '../workers/status-groups.ts';
import type { AskServices } from './io/ask-services.ts';
import {
  type AskDependencies,
  type PreparedRun,
  planByDependencies,
  refuseTaken,
  refuseUnready,
} from './io/begin-run.ts';
import type { Hold, Orchestrator } from './io/orchestrator.ts';
import { preflight, preflightRetry } from './io/preflight.ts';
import { type RunProjects, type ServedFolders, servedProject } from './io/run-project.ts';
import { endsWithItsRun } from './next-acts.ts';
import type { Run } from './run.ts';
import { runView } from './run-view.ts';

export type RunParts = {
  state: StateAccess;
  append: Append;
  projects: RunProjects;
  served: ServedFolders;
  /** The folder of the only served project whose tickets have this one's prefix. */
  folderOf: (ticket: string) => string | undefined;
  signals: SignalStore;
  dependenciesOf: AskDependencies;
  askServices: AskServices;
  orchestrator: Pick<Orchestrator, 'holds' | 'checkNow'>;
  /** Resolves when the board has the current content of the worker's signal file. */
  sync: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  now: () => Date;
};

/** What a person can do with runs. */
export function createRunActions(options: RunParts) {
  const { state, projects, signals, orchestrator, now } = options;

  const runOf = (name: string): Run => runNamed(state, name);

  const viewOf = (run: Run): ApiAnswer<typeof api.getRun> => ({
    ...runView(boardOf(state), run, now().toISOString()),
    holds: orchestrator.holds(run.orchestrator).map(holdView),
  });

  const starting = new Set<string>();

  async function begin(body: Asked<typeof api.startRun>['body']): Promise<ApiAnswer<typeof api.startRun>> {
    const { tickets, waves, plan, dependencies, ...asked } = body;
    const given = {
      ...asked,
      ...planned({ tickets, waves, plan }),
      project: await servedProject(asked.project ?? folderOf(tickets ?? []), options.served),
    };
    const { request, outside } = dependencies
      ? await planByDependencies(given, projects, options.dependenciesOf)
      : { request: given, outside: [] };
    const { started, missing, notes } = await preflight(options, request, request);
    refuseUnready(missing);
    await appendOnce(started);
    await orchestrator.checkNow();
    return { ...viewOf(runOf(started.scope.orchestrator)), outsideBlockers: outside, notes };
  }

  /** The name was free when the checks began. */
  async function appendOnce(started: PreparedRun['started']): Promise<void> {
    const { orchestrator: name } = started.scope;
    if (starting.has(name) || boardOf(state).runs.has(name))
      throw new Failure('already-running', `The run ${name} was started meanwhile.`, 'Start it again.');
    starting.add(name);
    try {
      await appendAndWait(options, started);
    } finally {
      starting.delete(name);
    }
  }

  async function check(
    body: Asked<typeof api.checkStart>['body'],
  ): Promise<ApiAnswer<typeof api.checkStart>> {
    const { tickets, waves, plan, task, ...asked } = body;
    const project = await servedProject(asked.project ?? folderOf(tickets ?? []), options.served);
    const work = task === undefined ? planned({ tickets, waves, plan }) : { task };
    const { missing, notes, checks } = await preflight(options, { ...asked, project, by: '' }, work);
    const tracker = trackerName(trackerOf((await projects.of(project)).config));
    return { ready: missing.length === 0, missing, notes, agents: checks, tracker };
  }

  function folderOf(tickets: readonly string[]): string {
    const [folder, ...others] = new Set(tickets.map(options.folderOf));
    if (folder !== undefined && others.length === 0) return folder;
    throw new Failure(
      'unknown-project',
      `Not exactly one served project has the tickets ${tickets.slice(0, 5).join(', ').slice(0, 200)}.`,
      'Start the run in the project’s folder: svc orchestrate start <tickets…>',
    );
  }

  async function changePause(name: string, word: 'paused' | 'resumed', by: string) {
    await pauseOrResume(options, name, word, by);
    return viewOf(runOf(name));
  }

  /** Cancels every ticket of the run. A repeated call finishes what was left. */
  async function cancelRun(run: Run, by: string) {
    if (run.state !== 'canceled') {
      refuseOver(run);
      await appendAndWait(options, eventOf(run, 'orchestrator.run.canceled', { by }));
    }
    // The loop ends the workers that the board knows.
    await syncFiles(run);
    await orchestrator.checkNow();
    await cancelUnstarted(run);
    if (run.plan === null) await cancelUnmanaged(run);
    await syncFiles(run);
    return viewOf(runOf(run.orchestrator));
  }

  /** The daemon did not start its agents and cannot end them; only the signal files record the cancellation. */
  async function cancelUnmanaged(run: Run): Promise<void> {
    for (const worker of boardOf(state).workers.values())
      if (worker.orchestrator === run.orchestrator && endsWithItsRun(worker))
        await setStatus(run, worker.ticket, 'canceled');
  }

  /** Otherwise a retry of one ticket, which resumes the run, would start these too. */
  async function cancelUnstarted(run: Run): Promise<void> {
    const { workers } = boardOf(state);
    for (const ticket of ticketsOf(run))
      if (!workers.has(workerKey(run.orchestrator, ticket))) await makeFile(run, ticket, 'canceled');
  }

  /** True when there was no file before. */
  async function makeFile(run: Run, ticket: string, status: SignalFile['status']): Promise<boolean> {
    const at = now().toISOString();
    const wave = waveOf(run, ticket);
    const made = await signals.create({
      ticket,
      orchestrator: run.orchestrator,
      workerName: ticket,
      status,
      phase: 'dispatched',
      startedAt: at,
      updatedAt: at,
      ...(wave !== undefined && { wave }),
    });
    return made.ok;
  }

  const syncFile = ({ orchestrator: of }: Run, ticket: string): Promise<void> =>
    options.sync({ orchestrator: of, ticket });
  const syncFiles = async (run: Run): Promise<void> => {
    await Promise.all(ticketsOf(run).map((ticket) => syncFile(run, ticket)));
  };

  /** Sets the status in the file; the log has it when this resolves. A missing file is created again. */
  async function setStatus(run: Run, ticket: string, status: SignalFile['status']): Promise<void> {
    const changed = await signals.update(run.orchestrator, ticket, (signal) =>
      isUnmerged(signal.status) ? { ...signal, status, error: null } : null,
    );
    const isMade = !changed.ok && changed.why === 'missing' && (await makeFile(run, ticket, status));
    if (!isMade && !(changed.ok && isUnmerged(changed.signal.status))) throw notNow(ticket, changed);
    await syncFile(run, ticket);
  }

  /** Also a ticket that was not started: its file has the status before there is a worker. */
  async function cancelTicket(run: Run, ticket: string): Promise<void> {
    if (!isKnown(run, ticket) && waveOf(run, ticket) === undefined) throw unknownTicket(run, ticket);
    await setStatus(run, ticket, 'canceled');
  }

  /** The retry is logged first: with the file alone, its old launches would still count against it. A finished run resumes. */
  async function retryTicket(run: Run, ticket: string, by: string) {
    if (isOver(run)) {
      if (run.plan === null) refuseOver(run);
      else refuseTaken(boardOf(state), run.plan.project, [ticket]);
      await cancelUnstarted(run);
      await syncFile(run, ticket);
    }
    if (!isKnown(run, ticket)) throw unknownTicket(run, ticket);
    const read = await signals.read(run.orchestrator, ticket);
    if (read.state === 'corrupt') throw notNow(ticket, { ok: false, why: read.state });
    if (read.state === 'ok' && !isUnmerged(read.signal.status)) throw notNow(ticket, { ok: true });
    const isIdle = agentOf(run, ticket)?.state === 'idle';
    refuseWhileWorking(run, ticket);
    const { missing, notes } =
      run.plan === null
        ? { missing: [], notes: [] }
        : await preflightRetry(options, run.orchestrator, run.plan, ticket);
    refuseUnready(missing);
    const word = eventOf(run, 'orchestrator.worker.retried', { by }, ticket);
    // A process that only waits is ended: a new one has the current environment.
    if (isIdle) {
      await setStatus(run, ticket, 'canceled');
      await orchestrator.checkNow();
    }
    // Launches are compared with the machine's clock; the event's own time may be ahead of it.
    await appendAndWait(options, { ...word, occurredAt: now().toISOString() });
    await setStatus(run, ticket, 'dispatched');
    return notes;
  }

  function agentOf({ orchestrator: of }: Run, ticket: string) {
    return boardOf(state).workers.get(workerKey(of, ticket))?.agent;
  }

  /** Otherwise a retry would either do nothing, or end work that nobody wanted to end. */
  function refuseWhileWorking(run: Run, ticket: string): void {
    const agent = agentOf(run, ticket);
    if (agent?.state !== 'running' && agent?.state !== 'needs-permission' && agent?.state !== 'needs-input')
      return;
    const doing = agent.state === 'running' ? 'is working' : 'waits for an answer';
    throw new Failure(
      'not-allowed-now',
      `The agent of ${ticket} ${doing}, so there is nothing to retry.`,
      `Stop it first: svc agent stop ${ticket}`,
    );
  }

  /** After the merge the deploy decides, whatever the file contains. */
  function isKnown(run: Run, ticket: string): boolean {
    const worker = boardOf(state).workers.get(workerKey(run.orchestrator, ticket));
    if (worker !== undefined && worker.merge !== null) throw notNow(ticket, { ok: true });
    return worker !== undefined;
  }

  return {
    start: begin,
    check,
    /** The newest change first. */
    list: () =>
      [...boardOf(state).runs.values()].toSorted((one, other) => other.lastSeq - one.lastSeq).map(viewOf),
    view: (name: string) => viewOf(runOf(name)),
    pause: (name: string, by: string) => changePause(name, 'paused', by),
    resume: (name: string, by: string) => changePause(name, 'resumed', by),
    /** Without a ticket, all of them. */
    async cancel(name: string, { ticket, by }: { ticket?: string | undefined; by: string }) {
      const run = runOf(name);
      if (ticket === undefined) return cancelRun(run, by);
      await cancelTicket(run, ticket);
      return viewOf(runOf(name));
    },
    async retry(name: string, { ticket, by }: { ticket: string; by: string }) {
      const run = runOf(name);
      const notes = await retryTicket(run, ticket, by);
      return { ...viewOf(runOf(name)), notes };
    },
  };
}

function planned({
  tickets,
  waves,
  plan,
}: Pick<Asked<typeof api.startRun>['body'], 'tickets' | 'waves' | 'plan'>) {
  return { plan: { file: plan ?? (tickets === undefined ? { waves } : { tickets }) } };
}

function runNamed(state: StateAccess, name: string): Run {
  const run = boardOf(state).runs.get(name);
  if (run !== undefined) return run;
  throw new Failure('unknown-run', `There is no run named ${name}.`, 'List them: svc orchestrate status');
}

export async function pauseOrResume(
  options: { state: StateAccess; append: Append; orchestrator: Pick<Orchestrator, 'checkNow'> },
  name: string,
  word: 'paused' | 'resumed',
  by: string,
): Promise<void> {
  const run = runNamed(options.state, name);
  refuseOver(run);
  await appendAndWait(options, eventOf(run, `orchestrator.run.${word}`, { by }));
  await options.orchestrator.checkNow();
}

function isOver({ state }: Run): boolean {
  return state === 'completed' || state === 'canceled';
}

function refuseOver(run: Run): void {
  const { orchestrator, state, plan } = run;
  const remedy = `Start one of its tickets again: svc orchestrate retry ${orchestrator} <ticket>`;
  if (isOver(run))
    throw new Failure(
      'not-allowed-now',
      `The run ${orchestrator} is ${state}.`,
      plan === null ? undefined : remedy,
    );
}

function ticketsOf({ plan, tickets }: Run): readonly string[] {
  return plan?.waves.flat() ?? tickets;
}

function notNow(ticket: string, found: { ok: true } | { ok: false; why: string }): Failure {
  const why = found.ok ? 'it has been merged' : `its status file is ${found.why}`;
  return new Failure('not-allowed-now', `${ticket}: ${why}.`, `See why: svc why ${ticket}`);
}

function unknownTicket({ orchestrator }: Run, ticket: string): Failure {
  return new Failure('unknown-ticket', `The run ${orchestrator} has no ticket ${JSON.stringify(ticket)}.`);
}

/** From 1; undefined when the ticket is in no wave. */
function waveOf({ plan }: Run, ticket: string): number | undefined {
  const index = plan?.waves.findIndex((tickets) => tickets.includes(ticket)) ?? -1;
  return index < 0 ? undefined : index + 1;
}

function eventOf<Name extends Topic>(run: Run, event: Name, detail: DetailOf<Name>, ticket?: string) {
  const scope = { orchestrator: run.orchestrator, ...(ticket !== undefined && { ticket }) };
  return draft(event, scope, detail, { source: 'cli' });
}

function holdView({ ticket, why, message, until }: Hold) {
  return { ticket, why, message, until };
}
