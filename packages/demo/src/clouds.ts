// The services around the demo's daemon: a relay, the code host, the backends of the Telemetry screen, and the workers'
// files. Signed deliveries go through the relay; one that does not arrive is sent again.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { type DemoBackends, startDemoBackends } from './backends.ts';
import type { DaemonAddress } from './daemon.ts';
import type { Day, DayRecord, Delivery } from './day.ts';
import { sendJson, startLocalServer } from './local-server.ts';
import { startScriptedTracker } from './tracker.ts';
import { appendOutput, changeSignal } from './worker-files.ts';

const ARRIVES_WITHIN_MS = 5_000;
const ATTEMPTS = 4;

export type Clouds = {
  relay: DemoRelay;
  /** The code host's host and port. */
  codehost: string;
  /** The address of the tracker's API. */
  tracker: string;
  backends: DemoBackends;
  channels: { codehost: string; tracker: string };
  /** Receives each event of the log: a delivery has arrived once it has one. */
  saw: (line: EventLine) => void;
  /** Resolves once it is in the log. */
  deliver: (delivery: Omit<Delivery, 'at'>) => Promise<void>;
  /** Sends or writes the record for the daemon. */
  play: (daemon: DaemonAddress, record: DayRecord) => Promise<void>;
  close: () => Promise<void>;
};

export async function openClouds(
  home: { runsDir: string; secrets: { codehost: string; tracker: string }; arrivesWithinMs?: number },
  day: Pick<Day, 'records' | 'nowIs' | 'timeOf'>,
): Promise<Clouds> {
  const { arrivesWithinMs = ARRIVES_WITHIN_MS } = home;
  const relay = await startDemoRelay();
  const codehost = await startScriptedCodehost();
  const tracker = await startScriptedTracker(day);
  const backends = await startDemoBackends(day);
  const channels = { codehost: relay.newChannel(), tracker: relay.newChannel() };
  const awaited = new Map<string, () => void>();

  const clouds: Clouds = {
    relay,
    codehost: codehost.host,
    tracker: tracker.url,
    backends,
    channels,
    saw: ({ deliveryId }) => awaited.get(deliveryId ?? '')?.(),
    async deliver({ kind, type, payload }) {
      if (kind === 'tracker') tracker.saw(type, payload);
      const id = randomUUID();
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', home.secrets[kind]).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', ...headersOf[kind](type, id, signature) };
      const arrived = new Promise<true>((resolve) => awaited.set(id, () => resolve(true)));
      try {
        for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
          await post(channels[kind], headers, body);
          if (await within(arrived, arrivesWithinMs)) return;
        }
      } finally {
        awaited.delete(id);
      }
      throw new Error(
        `A delivery did not reach the daemon within ${(ATTEMPTS * arrivesWithinMs) / 1_000} s.`,
      );
    },
    async play(daemon, record) {
      switch (record.kind) {
        case 'codehost':
        case 'tracker':
          return clouds.deliver(record);
        case 'signal':
          return changeSignal(home, record, record.patch);
        case 'output':
          return appendOutput(home, record, record.lines);
        case 'report': {
          const { event, scope, detail } = record;
          const body = JSON.stringify({ event, scope, detail, source: 'orchestrator', via: 'local' });
          const headers = { ...daemon.headers, 'content-type': 'application/json' };
          return post(`${daemon.url}/api/events`, headers, body);
        }
        // The daemon detects ended processes and writes its own events.
        case 'died':
        case 'daemon':
        case 'scene':
      }
    },
    async close() {
      await relay.close();
      await codehost.close();
      await tracker.close();
      await backends.close();
    },
  };
  return clouds;
}

const headersOf = {
  codehost: (type: string, id: string, signature: string) => ({
    'x-codehost-event': type,
    'x-codehost-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  }),
  tracker: (type: string, id: string, signature: string) => ({
    'tracker-event': type,
    'tracker-delivery': id,
    'tracker-signature': signature,
  }),
};

export async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

async function within(promise: Promise<true>, milliseconds: number): Promise<boolean> {
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(() => timeout.resolve(false), milliseconds);
  const isInTime = await Promise.race([promise, timeout.promise]);
  clearTimeout(timer);
  return isInTime;
}

// The demo's relay, with the public relay's protocol: it forwards each posted body to the channel's subscribers and
// stores nothing.

const PING_MS = 5_000;

type DemoRelay = {
  /** The URL of a new channel. */
  newChannel: () => string;
  subscribers: () => number;
  close: () => Promise<void>;
};

type Subscriber = { channel: string; response: ServerResponse; sent: number };

async function startDemoRelay(): Promise<DemoRelay> {
  const subscribers = new Set<Subscriber>();

  function send(subscriber: Subscriber, event: string | undefined, data: string): void {
    const eventLine = event === undefined ? '' : `event: ${event}\n`;
    subscriber.response.write(`id: ${subscriber.sent}\n${eventLine}data: ${data}\n\n`);
    subscriber.sent += 1;
  }

  function subscribe(channel: string, response: ServerResponse): void {
    const subscriber = { channel, response, sent: 0 };
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    subscribers.add(subscriber);
    response.on('close', () => subscribers.delete(subscriber));
    send(subscriber, 'ready', '{}');
  }

  const server = await startLocalServer(({ method, url, headers, body }, response) => {
    const channel = url.pathname;
    if (method === 'GET' && headers.accept === 'text/event-stream') return subscribe(channel, response);
    if (method !== 'POST') return sendJson(response, 404, { message: 'Not Found' });
    const message = { ...headers, body: JSON.parse(body) as unknown, query: {}, timestamp: Date.now() };
    for (const subscriber of subscribers)
      if (subscriber.channel === channel) send(subscriber, undefined, JSON.stringify(message));
    response.end();
  });
  const timer = setInterval(() => {
    for (const subscriber of subscribers) send(subscriber, 'ping', '{}');
  }, PING_MS).unref();

  return {
    newChannel: () => `http://127.0.0.1:${server.port}/${randomBytes(12).toString('base64url')}`,
    subscribers: () => subscribers.size,
    async close() {
      clearInterval(timer);
      await server.close();
    },
  };
}

// The demo's code host: the part of its API that the daemon calls. It stores created hooks and never has new data,
// because every event is sent as a delivery. Its client program is gh.ts.

type Hook = { id: number; active: boolean; events: string[]; config: Record<string, unknown> };
export type Answer = { status: number; body: unknown };

/** `host` is the client's GH_HOST. */
type ScriptedCodehost = { host: string; close: () => Promise<void> };

export async function startScriptedCodehost(): Promise<ScriptedCodehost> {
  const answer = createAnswers();
  const { port, close } = await startLocalServer(({ method, url, body: asked }, response) => {
    const { status, body } = answer(method, url.pathname, asked);
    sendJson(response, status, body);
  });
  return { host: `127.0.0.1:${port}`, close };
}

/** `answer('GET', '/repos/acme/web/hooks?per_page=100', '')` is an empty list at first. */
export function createAnswers(): (method: string, path: string, body: string) => Answer {
  const hooks = new Map<string, Hook[]>();
  return (method, path, body) => {
    const { pathname } = new URL(path, 'http://codehost');
    if (pathname === '/graphql') return { status: 200, body: { data: nothingNew(body) } };
    if (pathname === '/rate_limit') return { status: 200, body: { resources: {} } };
    const [, repo = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/?(.*)$/.exec(pathname) ?? [];
    if (repo === '') return notFound;
    if (rest === '') return { status: 200, body: { full_name: repo, permissions: { admin: true } } };
    const known = hooks.get(repo) ?? [];
    if (rest === 'hooks' && method === 'GET') return { status: 200, body: known.map(withoutSecret) };
    if (rest === 'hooks' && method === 'POST') {
      const given = JSON.parse(body) as Omit<Hook, 'id'>;
      const hook = { ...given, id: 7_001 + known.length };
      hooks.set(repo, [...known, hook]);
      return { status: 201, body: withoutSecret(hook) };
    }
    // Empty: everything was sent as a delivery, and every delivery arrived.
    const isEmptyList = /^(?:hooks\/\d+\/deliveries|deployments|deployments\/\d+\/statuses|issues)$/.test(
      rest,
    );
    return method === 'GET' && isEmptyList ? { status: 200, body: [] } : notFound;
  };
}

const notFound: Answer = { status: 404, body: { message: 'Not Found' } };

function withoutSecret({ config: { secret: _, ...config }, ...hook }: Hook): Hook {
  return { ...hook, config };
}

/** Each requested repository under its alias, without new pull requests. */
function nothingNew(body: string): Record<string, object> {
  const { variables = {} } = JSON.parse(body) as { variables?: Record<string, string> };
  const indexes = Object.keys(variables).flatMap((name) => /^o(\d+)$/.exec(name)?.[1] ?? []);
  return Object.fromEntries(
    indexes.map((index) => [
      `r${index}`,
      { nameWithOwner: `${variables[`o${index}`]}/${variables[`n${index}`]}`, newest: { nodes: [] } },
    ]),
  );
}
