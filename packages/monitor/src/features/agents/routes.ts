// The agent of a ticket: what it does, live, what it wrote, and what a person can do about it.
import { type Routes, route } from '../../kernel/http/route.ts';
import { createStreams, type OpenStream } from '../../kernel/http/server.ts';
import { api } from '../api.ts';
import { workerNamed } from '../workers/service.ts';
import type { Agents } from './io/agents.ts';
import { type AgentsOfBoard, answerAgent, changeAgent, messageAgent, workerOutput } from './service.ts';

const MAX_STREAMS = 100;

/** A text, and images in base64. */
const MAX_MESSAGE_BODY = 8 * 1024 * 1024;

const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

/** At most ten messages a second. The first change after a pause is sent at once, and so is a change of its state. */
const SEND_EVERY_MS = 100;

export function agentRoutes(options: AgentsOfBoard & { runsDir: string }): Routes {
  const { state, agents } = options;
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

    route(app, api.answerAgent, ({ params, body }) => answerAgent(options, { ...params, ...body }));

    route(app, api.messageAgent, ({ params, body }) => messageAgent(options, { ...params, ...body }), {
      bodyLimit: MAX_MESSAGE_BODY,
    });

    route(app, api.getAgentOptions, ({ params, query: { orchestrator } }) =>
      agents.options(workerOf(params.ticket, orchestrator)),
    );

    route(app, api.setAgentOption, ({ params, body }) => changeAgent(options, { ...params, ...body }));

    route(app, api.getWorkerOutput, ({ params, query }) => workerOutput(options, { ...params, ...query }));

    route(app, api.stopAgent, async ({ params, body: { by, orchestrator } }) => {
      await agents.cancel(workerOf(params.ticket, orchestrator), by);
      return { ok: true as const };
    });
  };
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
