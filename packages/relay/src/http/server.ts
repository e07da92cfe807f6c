// The relay's HTTP server, directly on node:http: for thousands of deliveries a framework would cost more than
// everything that is done with them. The routes:
//   POST /:channel          take a delivery        GET|HEAD /new   make an open channel, where allowed
//   GET  /:channel          stream, or a page      POST     /new   make a channel with a read key
//   GET  /:channel/status   what is stored         GET      /healthz, /readyz, /metrics
//   POST /:channel/cursor   a named subscriber reports its position
//   PUT  /:channel/:path    store a team's record   GET   /:channel/records   stream them
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { observe, observeTotal } from '@svc/lib/metrics';
import { isChannelId } from '../protocol/frame.ts';
import { refuse } from './answer.ts';
import { createCursorKeeper } from './cursor-keeper.ts';
import { createNewChannel } from './new-channel.ts';
import { createChannelStatus, createOperations } from './operations.ts';

import { answerChannelPage, answerUnknownPage } from './page.ts';
import { isEngineUnavailable, limitKeyOf, originOf, type RelayParts } from './relay-parts.ts';
import { createSubscribe, wantsStream } from './subscribe.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';
import { createTakeDelivery } from './take-delivery.ts';
import { createTeamRecords } from './team-records.ts';

const SWEEP_MS = 20;
/** During this time kept-alive connections are closed after their next answer, while everything is still answered. */
const FAREWELL_MS = 1_000;

export type RelayServer = {
  /** Resolves to the port that it listens on. */
  listen: (port: number, host: string) => Promise<number>;
  subscribers: () => number;
  /**
   * Closes senders' connections after their next answer. Then stops accepting, ends the streams with an id to resume
   * from (a reader that comes back reaches another relay, or none), and waits for running requests. What has not ended
   * within the time is cut.
   */
  close: (withinMs: number, farewell?: Promise<unknown>) => Promise<void>;
};

/** Never channels, whatever the method. */
const reserved: ReadonlySet<string> = new Set([
  'new',
  'healthz',
  'readyz',
  'metrics',
  'favicon.ico',
  'robots.txt',
]);

export function createRelayServer(parts: RelayParts): RelayServer {
  const { engine, settings, logger, metrics, limits, now } = parts;
  let stopping = false;
  const cursors = createCursorKeeper(parts);
  const subscribers = createSubscribers({
    cursors,
    metrics,
    pingMs: settings.pingSeconds * 1000,
    stallMs: settings.stallMs,
    maxUnsentBytes: settings.maxUnsentBytes,
  });
  const take = createTakeDelivery(parts);
  const subscribe = createSubscribe(parts, subscribers);
  const newChannel = createNewChannel(parts);
  const teamRecords = createTeamRecords(parts);
  const status = createChannelStatus(parts, subscribers);
  const operations = createOperations(parts, () => stopping);
  observeParts(parts, subscribers);

  function route(request: IncomingMessage, response: ServerResponse, awaited: boolean): void {
    if (stopping) response.shouldKeepAlive = false;
    const url = pathOf(request.url ?? '/');
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const name = path.slice(1);
    if (request.method === 'POST' && isChannelId(name) && !reserved.has(name)) {
      take(request, response, name, query, awaited);
      return;
    }
    if (awaited) response.writeContinue();
    others(request, response, name, query).catch((error: unknown) => {
      if (isEngineUnavailable(error)) return refuse(request, response, 'engine-unavailable');
      logger.error({ err: error }, 'a request failed');
      if (response.headersSent) response.destroy();
      else refuse(request, response, 'failed');
    });
  }

  async function others(
    request: IncomingMessage,
    response: ServerResponse,
    name: string,
    query: string,
  ): Promise<void> {
    const [channel = '', part, ...more] = name.split('/');
    if (part === undefined && reserved.has(channel)) return ownRoute(channel, request, response);
    if (!isChannelId(channel) || reserved.has(channel) || more.length > 0)
      return nothingHere(request, response);
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (part === 'status' && reading) return status.answer(request, response, channel);
    if (part === 'cursor' && request.method === 'POST')
      return status.moveCursor(request, response, channel, new URLSearchParams(query));
    if (part === 'records' && request.method === 'GET') return teamRecords.read(request, response, channel);
    if (part !== undefined && request.method === 'PUT')
      return teamRecords.put(request, response, channel, part);
    if (part !== undefined) return nothingHere(request, response);
    if (!reading) return refuse(request, response, 'wrong-method');
    if (!wantsStream(request)) return page(request, response, channel);
    if (request.method === 'HEAD') return refuse(request, response, 'wrong-method');
    // No answer at all: a standard `EventSource` reconnects after a lost connection, and never after a 503.
    if (!server.listening) return void request.socket.destroy();
    return subscribe(request, response, channel, new URLSearchParams(query));
  }

  async function ownRoute(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request;
    if (name === 'new' && method === 'POST') return newChannel.create(request, response);
    if (method !== 'GET' && method !== 'HEAD') return refuse(request, response, 'wrong-method');
    if (name === 'new') return newChannel.redirect(request, response);
    if (name === 'healthz') return operations.alive(response);
    if (name === 'readyz') return operations.ready(response);
    if (name === 'metrics') return operations.metrics(request, response);
    return nothingHere(request, response);
  }

  async function page(request: IncomingMessage, response: ServerResponse, channel: string): Promise<void> {
    const waitMs = limits.request(limitKeyOf(request, settings), now());
    if (waitMs > 0) return refuse(request, response, 'rate-limited', waitMs);
    const found = await engine.findChannel(channel);
    if (found === undefined) return nothingHere(request, response);
    answerChannelPage(response, `${originOf(request, settings)}/${channel}`, found.readKeyHash !== null);
  }

  const server = createServer(
    { requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 65_000, maxHeaderSize: 32 * 1024 },
    (request, response) => route(request, response, false),
  );
  // `100 Continue` is sent once the channel is known and within its limits.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    route(request, response, true),
  );

  return {
    listen: (port, host) => listen(server, port, host),
    subscribers: subscribers.count,
    async close(withinMs, farewell = sleep(FAREWELL_MS)) {
      stopping = true;
      await farewell;
      teamRecords.endAll();
      await closeGently(server, subscribers.endAll, withinMs);
      await cursors.settle();
    },
  };
}

function nothingHere(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.accept?.includes('text/html') === true) answerUnknownPage(response);
  else refuse(request, response, 'unknown-channel');
}

/** A proxy may send the whole address. */
function pathOf(url: string): string {
  if (url.startsWith('/')) return url;
  const parsed = URL.parse(url);
  return parsed === null ? '/' : parsed.pathname + parsed.search;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: 4096 }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function closeGently(server: Server, endStreams: () => Promise<void>, withinMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const enough = setTimeout(() => server.closeAllConnections(), withinMs);
  try {
    await endStreams();
    await closed;
  } finally {
    clearInterval(sweep);
    clearTimeout(enough);
  }
}

function observeParts({ engine, spill, metrics, budget, now }: RelayParts, subscribers: Subscribers): void {
  observe(metrics, 'svc_relay_subscribers', 'Open streams', subscribers.count);
  observe(metrics, 'svc_relay_unsent_bytes', 'Unsent bytes of all subscribers', subscribers.unsentBytes);
  observe(metrics, 'svc_relay_bytes_under_way', 'Bytes of bodies in memory', budget.used);
  observe(metrics, 'svc_relay_engine_connected', 'Whether the engine is connected', () =>
    engine.health().connected ? 1 : 0,
  );
  observe(
    metrics,
    'svc_relay_engine_streams',
    'Streams of the engine that answered the last check',
    () => engine.health().streams,
  );
  observe(
    metrics,
    'svc_relay_engine_replicas_behind',
    'Replicas of streams that are offline or not up to date',
    () => engine.health().behind.length,
  );
  if (spill === null) return;
  const { state } = spill;
  const ageOf = (at: number | null): number => (at === null ? 0 : Math.max(0, now() - at) / 1000);
  observeTotal(metrics, 'svc_relay_spilled_total', 'Posts that were held on disk', [], () => [
    [{}, state().total],
  ]);
  observe(metrics, 'svc_relay_spilled_waiting', 'Held posts not stored yet', () => state().waiting);
  observe(metrics, 'svc_relay_spilled_bytes', 'Size of the file that holds them', () => state().bytes);
  observe(metrics, 'svc_relay_spilled_oldest_seconds', 'Age of the oldest held post not stored yet', () =>
    ageOf(state().oldestAt),
  );
  observe(metrics, 'svc_relay_spilled_refusing', 'Whether no more posts can be held', () =>
    state().refusing === null ? 0 : 1,
  );
}
