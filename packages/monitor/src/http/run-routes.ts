// POST /api/runs begins a run; GET /api/runs and /api/runs/:run tell of them; POST /api/runs/:run/pause, resume,
// cancel and retry are a person's words on one.
import {
  type ApiAnswer,
  api,
  type EventDraft,
  isPreMerge,
  type Run,
  runView,
  type SignalFile,
  workerKey,
} from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { beginRun, type RunWish } from '../orchestrate/runs/begin-run.ts';
import type { Hold, Orchestrator } from '../orchestrate/runs/orchestrator.ts';
import { type AskDependencies, planByDependencies } from '../orchestrate/runs/plan-by-dependencies.ts';
import type { RunProjects } from '../orchestrate/runs/run-project.ts';
import { type ServedFolders, servedProject } from '../orchestrate/runs/served-project.ts';
import type { SignalStore } from '../runs/signal-store.ts';
import { fieldsOf, neededText, textOf } from './request-fields.ts';
import { type Append, boardOf, type StateAccess, say } from './state-access.ts';

const LONGEST_NAME = 120;
const LONGEST_PATH = 4_096;
const MOST_PARALLEL = 100;
const A_PERSON = 'a person';

type RunRoute = { Params: { run: string } };
const words = { pause: 'paused', resume: 'resumed', cancel: 'canceled' } as const;
type Word = keyof typeof words;

export function runRoutes(options: {
  state: StateAccess;
  append: Append;
  projects: RunProjects;
  served: ServedFolders;
  signals: SignalStore;
  dependenciesOf: AskDependencies;
  orchestrator: Pick<Orchestrator, 'holds' | 'lookNow'>;
  now: () => Date;
}): FastifyPluginCallback {
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

  async function begin(body: unknown): Promise<ApiAnswer<typeof api.startRun>> {
    const { byDependencies, ...asked } = wishOf(body);
    const given = { ...asked, project: await servedProject(asked.project, options.served) };
    const { wish, outside } = byDependencies
      ? await planByDependencies(given, options.dependenciesOf)
      : { wish: given, outside: [] };
    const draft = await beginRun({ wish, board: boardOf(state), projects, now: now() });
    await say(options, draft);
    await orchestrator.lookNow();
    return { ...viewOf(runOf(draft.scope.orchestrator)), outsideBlockers: outside };
  }

  async function giveWord(run: Run, word: Word, by: string) {
    refuseOver(run);
    await say(options, wordOf(run, `orchestrator.run.${words[word]}`, { by }));
    await orchestrator.lookNow();
    return viewOf(runOf(run.orchestrator));
  }

  /** The file says so, and the watcher brings it into the log. */
  async function setStatus(run: Run, ticket: string, status: SignalFile['status']): Promise<void> {
    const changed = await signals.update(run.orchestrator, ticket, (signal) =>
      isInPersonsHands(signal.status) ? { ...signal, status, error: null } : null,
    );
    if (!changed.ok || !isInPersonsHands(changed.signal.status)) throw notNow(ticket, changed);
  }

  /** One that was not begun is taken out too: its file says so before there is a worker. */
  async function cancelTicket(run: Run, ticket: string): Promise<void> {
    const wave = waveOf(run, ticket);
    if (!isKnown(run, ticket) && wave !== undefined) {
      const at = now().toISOString();
      const made = await signals.create({
        ticket,
        orchestrator: run.orchestrator,
        workerName: ticket,
        status: 'canceled',
        phase: 'dispatched',
        startedAt: at,
        updatedAt: at,
        wave,
      });
      if (made.ok) return;
    } else if (!isKnown(run, ticket)) throw unknownTicket(run, ticket);
    await setStatus(run, ticket, 'canceled');
  }

  /** Told first: by the file alone its old launches would still count against it. */
  async function retryTicket(run: Run, ticket: string, by: string): Promise<void> {
    if (!isKnown(run, ticket)) throw unknownTicket(run, ticket);
    const read = await signals.read(run.orchestrator, ticket);
    if (read.state !== 'ok') throw notNow(ticket, { ok: false, why: read.state });
    if (!isInPersonsHands(read.signal.status)) throw notNow(ticket, { ok: true });
    await say(options, wordOf(run, 'orchestrator.worker.retried', { by }, ticket));
    await setStatus(run, ticket, 'dispatched');
  }

  /** From the merge on, what ships decides, whatever the file says. */
  function isKnown(run: Run, ticket: string): boolean {
    const worker = boardOf(state).workers.get(workerKey(run.orchestrator, ticket));
    if (worker !== undefined && worker.merge !== null) throw notNow(ticket, { ok: true });
    return worker !== undefined;
  }

  return (app, _options, done) => {
    app.post('/api/runs', (request) => begin(request.body));
    app.get('/api/runs', (): ApiAnswer<typeof api.listRuns> => {
      const runs = [...boardOf(state).runs.values()].toSorted((one, other) => other.lastSeq - one.lastSeq);
      return { runs: runs.map(viewOf) };
    });
    app.get<RunRoute>('/api/runs/:run', (request) => viewOf(runOf(request.params.run)));
    for (const word of ['pause', 'resume'] as const)
      app.post<RunRoute>(`/api/runs/:run/${word}`, (request) =>
        giveWord(runOf(request.params.run), word, byOf(fieldsOf(request.body, api[`${word}Run`].body).by)),
      );
    app.post<RunRoute>('/api/runs/:run/cancel', async (request) => {
      const run = runOf(request.params.run);
      const given = fieldsOf(request.body, api.cancelRun.body);
      const ticket = textOf('ticket', given.ticket, LONGEST_NAME);
      if (ticket === undefined) return giveWord(run, 'cancel', byOf(given.by));
      refuseOver(run);
      await cancelTicket(run, ticket);
      return viewOf(run);
    });
    app.post<RunRoute>('/api/runs/:run/retry', async (request) => {
      const run = runOf(request.params.run);
      const given = fieldsOf(request.body, api.retryTicket.body);
      const ticket = neededText('ticket', given.ticket, LONGEST_NAME);
      refuseOver(run);
      await retryTicket(run, ticket, byOf(given.by));
      return viewOf(runOf(run.orchestrator));
    });
    done();
  };
}

function wishOf(body: unknown): RunWish & { byDependencies: boolean } {
  const given = fieldsOf(body, api.startRun.body);
  const { tickets, waves, plan, maxParallel, dependencies = false } = given;
  if (typeof dependencies !== 'boolean') throw new Failure('usage', 'dependencies: expected true or false.');
  if (dependencies && tickets === undefined)
    throw new Failure('usage', 'Only tickets can be put in the order of their dependencies.');
  const plans = [tickets, waves, plan].filter((one) => one !== undefined);
  if (plans.length !== 1) throw new Failure('usage', 'One of tickets, waves and plan is needed.');
  if (maxParallel !== undefined && !isParallel(maxParallel))
    throw new Failure('usage', `maxParallel: expected a whole number from 1 to ${MOST_PARALLEL}.`);
  return {
    project: neededText('project', given.project, LONGEST_PATH),
    plan: { file: plan ?? (tickets === undefined ? { waves } : { tickets }) },
    name: textOf('name', given.name, LONGEST_NAME),
    maxParallel,
    base: textOf('base', given.base, LONGEST_NAME),
    by: byOf(given.by),
    byDependencies: dependencies,
  };
}

function refuseOver({ orchestrator, state }: Run): void {
  if (state === 'completed' || state === 'canceled')
    throw new Failure('not-allowed-now', `The run ${orchestrator} is ${state}.`);
}

function isInPersonsHands(status: SignalFile['status']): boolean {
  return isPreMerge(status) || status === 'failed' || status === 'stalled' || status === 'canceled';
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

function isParallel(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_PARALLEL;
}

function byOf(value: unknown): string {
  return textOf('by', value, LONGEST_NAME) ?? A_PERSON;
}

function wordOf(run: Run, event: string, detail: Record<string, unknown>, ticket?: string): EventDraft {
  const scope = { orchestrator: run.orchestrator, ...(ticket !== undefined && { ticket }) };
  return { event, source: 'cli', via: 'local', scope, detail };
}

function holdView({ ticket, why, message, until }: Hold) {
  return { ticket, why, message, until };
}
