// The agent of a ticket: what it does, live, and what a person can do about it. And the reports of hooks.
import { createHash, timingSafeEqual } from 'node:crypto';
import { api, isPreMerge, shownStatus, type Worker } from '@svc/core';
import type { FastifyRequest } from 'fastify';
import { hookTokenFile, readHookToken } from '../access/token-file.ts';
import type { HookSessions } from '../agent-hooks/sessions.ts';
import { Failure } from '../errors.ts';
import type { Agents } from '../orchestrate/agents/agents.ts';
import { imagesOf } from '../orchestrate/agents/image-files.ts';
import { type RunProjects, type ServedFolders, servedProject } from '../orchestrate/runs/run-project.ts';
import { type Routes, route, whileClientWaits } from './route.ts';
import { createStreams, type OpenStream } from './server.ts';
import type { StateAccess } from './state-access.ts';
import { workerNamed } from './ticket-routes.ts';

const MAX_STREAMS = 100;
/** A text, and images in base64. */
const MAX_MESSAGE_BODY = 8 * 1024 * 1024;
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
/** At most ten messages a second. The first change after a pause is sent at once, and so is a change of its state. */
const SEND_EVERY_MS = 100;

export function agentRoutes({ state, agents }: { state: StateAccess; agents: Agents }): Routes {
  const streams = createStreams({ most: MAX_STREAMS, maxUnsentBytes: MAX_UNSENT_BYTES });
  const workerOf = (ticket: string, orchestrator: string | undefined) =>
    workerNamed(state, ticket, orchestrator);

  return (app) => {
    streams.endWith(app);

    route(app, api.getAgent, ({ params, query: { orchestrator, after = 0, ...asked } }) =>
      agents.view(workerOf(params.ticket, orchestrator), { after, ...asked }),
    );

    route(app, api.streamAgent, async ({ params, query: { orchestrator, after = 0, instanceId } }, reply) => {
      const worker = workerOf(params.ticket, orchestrator);
      // Reports a file that cannot be read while the request can still get an error response.
      const first = await agents.view(worker, { after, instanceId });
      streamViews({
        stream: streams.open(reply),
        first,
        view: (rev, id) => agents.view(workerOf(params.ticket, orchestrator), { after: rev, instanceId: id }),
        onChange: (changed) => agents.onChange(worker, changed),
      });
      return reply;
    });

    route(app, api.answerAgent, async ({ params, body }) => {
      const { request, answer, content, confirm, key, by, orchestrator } = body;
      const worker = workerOf(params.ticket, orchestrator);
      if (answer.endsWith('_always') && confirm !== true) {
        const asked = worker.agent?.open.find((one) => one.request === request);
        const option = asked?.options.find(({ kind }) => kind === answer)?.name ?? answer;
        throw new Failure(
          'usage',
          `"${option}" also decides later requests, and the agent chooses which ones. It was asked for: ${asked?.command ?? asked?.title ?? 'unknown'}.`,
          `If you mean it: svc agent answer ${params.ticket} ${answer} --confirm`,
        );
      }
      await agents.answer(worker, { request, answer, by, key, content });
      return { ok: true as const, answered: answer };
    });

    route(
      app,
      api.messageAgent,
      async ({ params, body }) => {
        const { text, by, key = crypto.randomUUID(), images = [], orchestrator } = body;
        const worker = messagedWorker(state, params.ticket, orchestrator);
        const given = { text, by, key, images: imagesOf(images) };
        return { ok: true as const, queued: await agents.message(worker, given) };
      },
      { bodyLimit: MAX_MESSAGE_BODY },
    );

    route(app, api.getAgentOptions, ({ params, query: { orchestrator } }) =>
      agents.options(workerOf(params.ticket, orchestrator)),
    );

    route(app, api.setAgentOption, async ({ params, body }) => {
      const { setting, value, confirm = false, by, key, orchestrator } = body;
      const worker = workerOf(params.ticket, orchestrator);
      const confirmed = await agents.change(worker, { setting, value, confirm, by, key });
      const { mode, model } = await agents.options(worker);
      return { ok: true as const, confirmed, mode, model };
    });

    route(app, api.stopAgent, async ({ params, body: { by, orchestrator } }) => {
      await agents.cancel(workerOf(params.ticket, orchestrator), by);
      return { ok: true as const };
    });
  };
}

/**
 * Reports and questions of the hooks in agents' settings, and what people answer. The token of the hooks is read each
 * time, so a new one counts at once; it gives no answers.
 */
export function hookRoutes({ sessions, dataDir }: { sessions: HookSessions; dataDir: string }): Routes {
  const onRequest = async ({ headers }: FastifyRequest): Promise<void> => {
    const token = readHookToken(dataDir);
    if (token !== undefined && isSame(token, String(headers['x-svc-hook-token']))) return;
    throw new Failure(
      'wrong-hook-token',
      'The token of the hook is not the one of this daemon.',
      `Hooks read it from ${hookTokenFile(dataDir)}. Write everything again: svc hooks install <agent>`,
    );
  };
  return (app) => {
    route(
      app,
      api.reportHook,
      async ({ body }) => {
        await sessions.take(body);
        return { ok: true as const };
      },
      { onRequest },
    );
    route(
      app,
      api.askByHook,
      ({ body }, reply) =>
        whileClientWaits(reply, async (signal) => ({ answer: await sessions.ask(body, signal) })),
      { onRequest },
    );
    route(app, api.answerSession, async ({ body }) => {
      await sessions.answer(body);
      return { ok: true as const, answered: body.answer };
    });
  };
}

/** Takes the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The agents that a run of the project can use. */
export function knownAgentRoutes({
  projects,
  served,
  home,
}: {
  projects: RunProjects;
  served: ServedFolders;
  /** Before there is a project, the user's own settings and the defaults count. */
  home: string;
}): Routes {
  const projectAt = async (folder: string | undefined) =>
    projects.of(folder === undefined ? home : await servedProject(folder, served));
  return (app) => {
    route(app, api.listAgents, async ({ query }) => ({
      agents: await (await projectAt(query.project)).listAgents(),
    }));
    route(app, api.checkAgent, async ({ body }) => (await projectAt(body.project)).checkAgent(body.name));
  };
}

/** A worker without work for its agent gets no messages. */
export function messagedWorker(state: StateAccess, named: string, run: string | undefined): Worker {
  const worker = workerNamed(state, named, run);
  const { ticket, orchestrator, status, merge, removed } = worker;
  if (status === 'failed' || status === 'stalled')
    throw new Failure(
      'not-allowed-now',
      `The status of ${ticket} is ${shownStatus(status)}, so its agent is not started for a message.`,
      `Start it again: svc orchestrate retry ${orchestrator} ${ticket}`,
    );
  if (removed || merge !== null || !isPreMerge(status))
    throw new Failure(
      'not-allowed-now',
      `The status of ${ticket} is ${shownStatus(status)}: its agent has nothing more to do.`,
      `See why: svc why ${ticket}`,
    );
  return worker;
}

function streamViews(options: {
  stream: OpenStream;
  first: Awaited<ReturnType<Agents['view']>>;
  view: (rev: number, instanceId: string) => ReturnType<Agents['view']>;
  onChange: (changed: (isUrgent: boolean) => void) => () => void;
}): void {
  const { stream, first, view, onChange } = options;
  const { response, signal, onSlow } = stream;
  let { rev, instanceId } = first;
  let lastAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let isUrgent = false;
  const send = (data: object): void => {
    lastAt = performance.now();
    if (!response.write(`data: ${JSON.stringify(data)}\n\n`)) onSlow();
  };
  const sendNew = async (): Promise<void> => {
    timer = undefined;
    // A client that does not read gets everything in one message later.
    if (response.writableNeedDrain) return schedule();
    isUrgent = false;
    isReading = true;
    const next = await view(rev, instanceId);
    isReading = false;
    if (signal.aborted) return;
    ({ rev, instanceId } = next);
    send(next);
    if (isUrgent) schedule();
  };
  function schedule(): void {
    clearTimeout(timer);
    const isNow = isUrgent && !response.writableNeedDrain;
    timer = setTimeout(
      () => {
        sendNew().catch(() => response.destroy());
      },
      isNow ? 0 : Math.max(0, lastAt + SEND_EVERY_MS - performance.now()),
    );
  }
  const unsubscribe = onChange((isNow) => {
    isUrgent ||= isNow;
    if (signal.aborted || isReading) return;
    if (isNow || timer === undefined) schedule();
  });
  signal.addEventListener('abort', () => {
    unsubscribe();
    clearTimeout(timer);
    response.end();
  });
  send(first);
}
