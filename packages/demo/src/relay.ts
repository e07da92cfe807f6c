// The demo's relay, with the public relay's protocol: it forwards each posted body to the channel's subscribers and
// stores nothing.
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sendJson, startLocalServer } from './local-server.ts';

const PING_MS = 5_000;

export type DemoRelay = {
  /** The URL of a new channel. */
  newChannel: () => string;
  subscribers: () => number;
  close: () => Promise<void>;
};

type Subscriber = { channel: string; response: ServerResponse; sent: number };

export async function startDemoRelay(): Promise<DemoRelay> {
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
