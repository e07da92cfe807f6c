// The agent of a ticket: what it does, live, and what a person can do about it.
import type { ServerResponse } from 'node:http';
import { api, createLookup, isPreMerge, type Worker } from '@svc/core';
import { Failure } from '../errors.ts';
import type { Agents } from '../orchestrate/agents/agents.ts';
import { type RunProjects, type ServedFolders, servedProject } from '../orchestrate/runs/run-project.ts';
import { type Routes, route } from './route.ts';
import { createUnsentLimit } from './server.ts';
import { boardOf, type StateAccess } from './state-access.ts';
import { unknownTicket } from './ticket-routes.ts';

const MAX_STREAMS = 100;
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
/** At most ten messages a second; the first change after a pause is sent at once. */
const SEND_EVERY_MS = 100;
const KEEP_ALIVE_MS = 15_000;

export function agentRoutes({ state, agents }: { state: StateAccess; agents: Agents }): Routes {
  const open = new Set<() => void>();
  const unsent = createUnsentLimit(MAX_UNSENT_BYTES);

  function workerOf(ticket: string, orchestrator: string | undefined): Worker {
    const worker = createLookup(boardOf(state)).ofTicket(ticket, orchestrator)?.worker;
    if (!worker) throw unknownTicket(ticket, orchestrator);
    return worker;
  }

  return (app) => {
    // A stream never ends on its own; its client connects again.
    app.addHook('preClose', (closed) => {
      for (const end of open) end();
      closed();
    });

    route(app, api.getAgent, ({ params, query: { orchestrator, after = 0, instanceId } }) =>
      agents.view(workerOf(params.ticket, orchestrator), { after, instanceId }),
    );

    route(app, api.streamAgent, async ({ params, query: { orchestrator, after = 0, instanceId } }, reply) => {
      const worker = workerOf(params.ticket, orchestrator);
      if (open.size >= MAX_STREAMS)
        throw new Failure('busy', 'Too many streams are open.', 'Close one and try again.');
      // Reports a file that cannot be read while the request can still get an error response.
      const first = await agents.view(worker, { after, instanceId });
      reply.hijack();
      const response = reply.raw;
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        Connection: 'keep-alive',
        'X-Accel-Buffering': 'no',
      });
      const end = streamViews({
        response,
        first,
        view: (rev, id) => agents.view(workerOf(params.ticket, orchestrator), { after: rev, instanceId: id }),
        onChange: (changed) => agents.onChange(worker, changed),
        onSlow: () => unsent.note(response),
      });
      open.add(end);
      response.once('close', () => {
        end();
        open.delete(end);
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

    route(app, api.messageAgent, async ({ params, body }) => {
      const { text, by, key = crypto.randomUUID(), orchestrator } = body;
      const worker = workerOf(params.ticket, orchestrator);
      refuseLate(worker);
      return { ok: true as const, queued: await agents.message(worker, { text, by, key }) };
    });

    route(app, api.stopAgent, async ({ params, body: { by, orchestrator } }) => {
      await agents.cancel(workerOf(params.ticket, orchestrator), by);
      return { ok: true as const };
    });
  };
}

/** The agents that a run of the project can use. */
export function knownAgentRoutes({
  projects,
  served,
}: {
  projects: RunProjects;
  served: ServedFolders;
}): Routes {
  const projectAt = async (folder: string) => projects.of(await servedProject(folder, served));
  return (app) => {
    route(app, api.listAgents, async ({ query }) => ({
      agents: await (await projectAt(query.project)).listAgents(),
    }));
    route(app, api.checkAgent, async ({ body }) => (await projectAt(body.project)).checkAgent(body.name));
  };
}

/** A worker without work for its agent gets no messages. */
function refuseLate({ ticket, orchestrator, status, merge, removed }: Worker): void {
  if (status === 'failed' || status === 'stalled')
    throw new Failure(
      'not-allowed-now',
      `${ticket} is ${status}, so its agent is not started for a message.`,
      `Start it again: svc orchestrate retry ${orchestrator} ${ticket}`,
    );
  if (removed || merge !== null || !isPreMerge(status))
    throw new Failure(
      'not-allowed-now',
      `${ticket} is ${status}: its agent has nothing more to do.`,
      `See why: svc why ${ticket}`,
    );
}

function streamViews(options: {
  response: ServerResponse;
  first: Awaited<ReturnType<Agents['view']>>;
  view: (rev: number, instanceId: string) => ReturnType<Agents['view']>;
  onChange: (changed: () => void) => () => void;
  onSlow: () => void;
}): () => void {
  const { response, first, view, onChange, onSlow } = options;
  let { rev, instanceId } = first;
  let lastAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const send = (data: object): void => {
    lastAt = performance.now();
    if (!response.write(`data: ${JSON.stringify(data)}\n\n`)) onSlow();
  };
  const sendNew = async (): Promise<void> => {
    // A client that does not read gets everything in one message later.
    if (response.writableNeedDrain) return schedule();
    const next = await view(rev, instanceId);
    timer = undefined;
    if (isEnded) return;
    ({ rev, instanceId } = next);
    send(next);
  };
  function schedule(): void {
    timer = setTimeout(
      () => {
        sendNew().catch(() => response.destroy());
      },
      Math.max(0, lastAt + SEND_EVERY_MS - performance.now()),
    );
  }
  const unsubscribe = onChange(() => {
    if (timer === undefined && !isEnded) schedule();
  });
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
  send(first);
  return () => {
    isEnded = true;
    unsubscribe();
    clearInterval(keepAlive);
    clearTimeout(timer);
    response.end();
  };
}
