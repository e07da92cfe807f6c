// POST /api/runs begins a run; GET /api/runs and /api/runs/:run tell of them; POST /api/runs/:run/pause, resume,
// cancel and retry are a person's words on one.
import {
  type ApiAnswer,
  api,
  type DetailOf,
  draft,
  endsWithItsRun,
  isInPersonsHands,
  type Run,
  runView,
  type SignalFile,
  type Topic,
  workerKey,
} from '@svc/core';
import { Failure } from '../errors.ts';
import {
  type AskDependencies,
  beginRun,
  planByDependencies,
  refuseTaken,
} from '../orchestrate/runs/begin-run.ts';
import type { Hold, Orchestrator } from '../orchestrate/runs/orchestrator.ts';

import { type RunProjects, type ServedFolders, servedProject } from '../orchestrate/runs/run-project.ts';
import type { SignalStore } from '../runs/signal-store.ts';
import { type Asked, type Routes, route } from './route.ts';
import { type Append, boardOf, type StateAccess, say } from './state-access.ts';

export function runRoutes(options: {
  state: StateAccess;
  append: Append;
  projects: RunProjects;
  served: ServedFolders;
  signals: SignalStore;
  dependenciesOf: AskDependencies;
  orchestrator: Pick<Orchestrator, 'holds' | 'lookNow'>;
  /** Ends when the board has what the signal file of the worker says now. */
  see: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  now: () => Date;
}): Routes {
  const { state, projects, signals, orchestrator, now } = options;

  const runOf = (name: string): Run => {
    const run = boardOf(state).runs.get(name);
    if (run !== undefined) return run;
    throw new Failure('unknown-run', `There is no run named ${name}.`, 'See: svc orchestrate status');
  };

  const viewOf = (run: Run): ApiAnswer<typeof api.getRun> => ({
    ...runView(boardOf(state), run, now().toISOString()),
    holds: orchestrator.holds(run.orchestrator).map(holdView),
  });

  async function begin(body: Asked<typeof api.startRun>['body']): Promise<ApiAnswer<typeof api.startRun>> {
    const { tickets, waves, plan, dependencies, ...asked } = body;
    const given = {
      ...asked,
      plan: { file: plan ?? (tickets === undefined ? { waves } : { tickets }) },
      project: await servedProject(asked.project, options.served),
    };
    const { wish, outside } = dependencies
      ? await planByDependencies(given, options.dependenciesOf)
      : { wish: given, outside: [] };
    const begun = await beginRun({ wish, board: boardOf(state), projects, now: now() });
    await say(options, begun);
    await orchestrator.lookNow();
    return { ...viewOf(runOf(begun.scope.orchestrator)), outsideBlockers: outside };
  }

  async function giveWord(run: Run, word: 'paused' | 'resumed', by: string) {
    refuseOver(run);
    await say(options, wordOf(run, `orchestrator.run.${word}`, { by }));
    await orchestrator.lookNow();
    return viewOf(runOf(run.orchestrator));
  }

  /** Every ticket of it ends with it. Said again, it finishes what was left. */
  async function cancelRun(run: Run, by: string) {
    if (run.state !== 'canceled') {
      refuseOver(run);
      await say(options, wordOf(run, 'orchestrator.run.canceled', { by }));
    }
    // The loop ends the workers that the board knows.
    await seeFiles(run);
    await orchestrator.lookNow();
    await cancelUnbegun(run);
    if (run.plan === null) await cancelUnmanaged(run);
    await seeFiles(run);
    return viewOf(runOf(run.orchestrator));
  }

  /** Nobody here started its agents, nor can end them; its files say what the person said. */
  async function cancelUnmanaged(run: Run): Promise<void> {
    for (const worker of boardOf(state).workers.values())
      if (worker.orchestrator === run.orchestrator && endsWithItsRun(worker))
        await setStatus(run, worker.ticket, 'canceled');
  }

  /** Else a retry of one ticket, which lets the run go on, would begin them too. */
  async function cancelUnbegun(run: Run): Promise<void> {
    const { workers } = boardOf(state);
    for (const ticket of ticketsOf(run))
      if (!workers.has(workerKey(run.orchestrator, ticket))) await makeFile(run, ticket, 'canceled');
  }

  /** Whether there was none before. */
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

  const seeFile = ({ orchestrator: of }: Run, ticket: string): Promise<void> =>
    options.see({ orchestrator: of, ticket });
  const seeFiles = async (run: Run): Promise<void> => {
    await Promise.all(ticketsOf(run).map((ticket) => seeFile(run, ticket)));
  };

  /** The file says so, and the log has it when this ends. A file that is gone is made again. */
  async function setStatus(run: Run, ticket: string, status: SignalFile['status']): Promise<void> {
    const changed = await signals.update(run.orchestrator, ticket, (signal) =>
      isInPersonsHands(signal.status) ? { ...signal, status, error: null } : null,
    );
    const isMade = !changed.ok && changed.why === 'missing' && (await makeFile(run, ticket, status));
    if (!isMade && !(changed.ok && isInPersonsHands(changed.signal.status))) throw notNow(ticket, changed);
    await seeFile(run, ticket);
  }

  /** One that was not begun is taken out too: its file says so before there is a worker. */
  async function cancelTicket(run: Run, ticket: string): Promise<void> {
    if (!isKnown(run, ticket) && waveOf(run, ticket) === undefined) throw unknownTicket(run, ticket);
    await setStatus(run, ticket, 'canceled');
  }

  /** Told first: by the file alone its old launches would still count against it. A run that is over goes on. */
  async function retryTicket(run: Run, ticket: string, by: string): Promise<void> {
    if (isOver(run)) {
      if (run.plan === null) refuseOver(run);
      else refuseTaken(boardOf(state), run.plan.project, [ticket]);
      await cancelUnbegun(run);
      await seeFile(run, ticket);
    }
    if (!isKnown(run, ticket)) throw unknownTicket(run, ticket);
    const read = await signals.read(run.orchestrator, ticket);
    if (read.state === 'corrupt') throw notNow(ticket, { ok: false, why: read.state });
    if (read.state === 'ok' && !isInPersonsHands(read.signal.status)) throw notNow(ticket, { ok: true });
    if (run.plan !== null) await (await projects.of(run.plan.project)).checkAgent();
    const word = wordOf(run, 'orchestrator.worker.retried', { by }, ticket);
    // Launches are compared with the machine's clock; the line's own time may be ahead of it.
    await say(options, { ...word, occurredAt: now().toISOString() });
    await setStatus(run, ticket, 'dispatched');
  }

  /** From the merge on, what ships decides, whatever the file says. */
  function isKnown(run: Run, ticket: string): boolean {
    const worker = boardOf(state).workers.get(workerKey(run.orchestrator, ticket));
    if (worker !== undefined && worker.merge !== null) throw notNow(ticket, { ok: true });
    return worker !== undefined;
  }

  return (app) => {
    route(app, api.startRun, ({ body }) => begin(body));
    route(app, api.listRuns, () => {
      const runs = [...boardOf(state).runs.values()].toSorted((one, other) => other.lastSeq - one.lastSeq);
      return { runs: runs.map(viewOf) };
    });
    route(app, api.getRun, ({ params }) => viewOf(runOf(params.run)));
    route(app, api.pauseRun, ({ params, body }) => giveWord(runOf(params.run), 'paused', body.by));
    route(app, api.resumeRun, ({ params, body }) => giveWord(runOf(params.run), 'resumed', body.by));
    route(app, api.cancelRun, async ({ params, body }) => {
      const run = runOf(params.run);
      if (body.ticket === undefined) return cancelRun(run, body.by);
      await cancelTicket(run, body.ticket);
      return viewOf(runOf(run.orchestrator));
    });
    route(app, api.retryTicket, async ({ params, body }) => {
      const run = runOf(params.run);
      await retryTicket(run, body.ticket, body.by);
      return viewOf(runOf(run.orchestrator));
    });
  };
}

function isOver({ state }: Run): boolean {
  return state === 'completed' || state === 'canceled';
}

function refuseOver(run: Run): void {
  const { orchestrator, state, plan } = run;
  const remedy = `Start a ticket of it again: svc orchestrate retry ${orchestrator} <ticket>`;
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
  const why = found.ok ? 'it has been merged' : `its signal file is ${found.why}`;
  return new Failure('not-allowed-now', `${ticket}: ${why}.`, `See: svc why ${ticket}`);
}

function unknownTicket({ orchestrator }: Run, ticket: string): Failure {
  return new Failure('unknown-ticket', `${orchestrator} has no ticket ${JSON.stringify(ticket)}.`);
}

/** From 1; undefined when the ticket is in none. */
function waveOf({ plan }: Run, ticket: string): number | undefined {
  const index = plan?.waves.findIndex((tickets) => tickets.includes(ticket)) ?? -1;
  return index < 0 ? undefined : index + 1;
}

function wordOf<Name extends Topic>(run: Run, event: Name, detail: DetailOf<Name>, ticket?: string) {
  const scope = { orchestrator: run.orchestrator, ...(ticket !== undefined && { ticket }) };
  return draft(event, scope, detail, { source: 'cli' });
}

function holdView({ ticket, why, message, until }: Hold) {
  return { ticket, why, message, until };
}
