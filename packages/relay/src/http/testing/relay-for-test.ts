// A relay on a loopback port with an engine in memory, and readers and senders for it.
import { request as httpRequest } from 'node:http';
import { createByteBudget } from '@svc/lib/read-body';
import { WAIT_MS } from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { EngineUnavailable } from '../../engine/engine.ts';
import { type Limits, noLimits, noNetworks } from '../../limits/limits.ts';
import { createMetrics } from '../metrics.ts';
import { createLogger, type RelayParts, type RelaySettings } from '../relay-parts.ts';
import { createRelayServer } from '../server.ts';
import { createMemoryEngine } from './memory-engine.ts';

export async function relayForTest(
  given: {
    settings?: Partial<RelaySettings>;
    limits?: Partial<Limits>;
    roomBytes?: number;
    now?: () => number;
    spill?: RelayParts['spill'];
    /** Instead of the engine in memory, which has no records. */
    engine?: RelayParts['engine'];
  } = {},
) {
  const engine = createMemoryEngine(() => new EngineUnavailable('no server answers'));
  const logged: string[] = [];
  const metrics = createMetrics();
  const server = createRelayServer({
    engine: given.engine ?? engine,
    spill: given.spill ?? null,
    limits: { ...noLimits, ...given.limits },
    settings: {
      version: '1.2.3',
      publicUrl: null,
      openChannels: false,
      pingSeconds: 30,
      stallMs: 10 * WAIT_MS,
      maxUnsentBytes: 128 * 1024 * 1024,
      trustedProxies: noNetworks,
      allowedSenders: null,
      createKeyHash: null,
      ...given.settings,
    },
    logger: createLogger({ write: (text) => void logged.push(text) }, 'debug'),
    metrics,
    budget: createByteBudget(given.roomBytes ?? 100 * 1024 * 1024),
    now: given.now ?? Date.now,
  });
  const port = await server.listen(0, '127.0.0.1');
  let closed = false;
  const close = async (withinMs: number, farewell: Promise<unknown> = Promise.resolve()): Promise<void> => {
    if (closed) return;
    closed = true;
    await server.close(withinMs, farewell);
  };
  onTestFinished(() => close(0));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    engine,
    server,
    close,
    logged: () => logged.join(''),
    metrics: () => metrics.registry.metrics(),
    /** The address of an open channel. */
    async openChannel(): Promise<string> {
      return (await makeChannel(url, { open: true })).writeUrl;
    },
    keyedChannel: () => makeChannel(url, {}),
  };
}

export type MadeChannel = { channel: string; writeUrl: string; readUrl: string; readKey: string };

export async function makeChannel(url: string, wish: object): Promise<MadeChannel> {
  const response = await fetch(`${url}/new`, { method: 'POST', body: JSON.stringify(wish) });
  if (response.status !== 201) throw new Error(`POST /new answered ${response.status}`);
  return (await response.json()) as MadeChannel;
}

export type Answer = { status: number; headers: Record<string, string | undefined>; body: string };

/** A request sent exactly as written, on its own connection. */
export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method: options.method ?? 'POST', headers: options.headers ?? {}, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

type Frame = { id?: string; event?: string; retry?: string; data: string };
export type Listening = {
  status: number;
  headers: Record<string, string | undefined>;
  text: () => string;
  bytes: () => number;
  frames: () => Frame[];
  /** Frames of deliveries only. */
  messages: () => Frame[];
  ended: () => boolean;
  pause: () => void;
  resume: () => void;
  cut: () => void;
};

/** A subscriber that keeps everything that it receives. */
export function listen(url: string, headers: Record<string, string> = {}): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const parts: Buffer[] = [];
      let ended = false;
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('close', () => (ended = true));
      response.on('error', () => (ended = true));
      const text = (): string => Buffer.concat(parts).toString();
      const frames = (): Frame[] => framesIn(text());
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers as Record<string, string>,
        text,
        bytes: () => parts.reduce((sum, part) => sum + part.length, 0),
        frames,
        messages: () => frames().filter(({ event, id }) => event === undefined && id !== undefined),
        ended: () => ended,
        pause: () => response.pause(),
        resume: () => response.resume(),
        cut: () => outgoing.destroy(),
      });
      onCleanUp(() => outgoing.destroy());
    });
    outgoing.end();
  });
}

/** Does nothing outside of a test. */
function onCleanUp(clean: () => void): void {
  try {
    onTestFinished(clean);
  } catch {
    // Called in a test that has ended, or from a hook: the connection is closed with the relay.
  }
}

function framesIn(text: string): Frame[] {
  const whole = text.split('\n\n').slice(0, -1);
  return whole.map((block) => {
    const fields = block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
    return { data: '', ...(Object.fromEntries(fields) as Partial<Frame>) };
  });
}
