// The public relay as it behaves on the wire: it stores nothing, counts ids per connection (including ready and ping),
// parses bodies and serialises them again, and answers 200 even without a subscriber.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { rulingOn, startRelayHttp } from './relay-http.ts';

export type PublicRelay = {
  url: string;
  /** The URL of an unused channel. */
  newChannel: () => string;
  subscribers: () => number;
  /** A heartbeat now, besides those of the timer. */
  ping: () => void;
  cutAll: () => void;
  stop: () => Promise<void>;
};

type Subscriber = { channel: string; response: ServerResponse; sent: number };

/** The caller has to stop it. One timer sends the heartbeats of all connections, as in the real one. */
export async function startPublicRelay({ pingMs = 30_000 } = {}): Promise<PublicRelay> {
  const subscribers = new Set<Subscriber>();

  function send(subscriber: Subscriber, event: string | undefined, data: string): void {
    const eventLine = event === undefined ? '' : `event: ${event}\n`;
    subscriber.response.write(`id: ${subscriber.sent}\n${eventLine}data: ${data}\n\n`);
    subscriber.sent += 1;
  }

  function ping(): void {
    for (const subscriber of subscribers) send(subscriber, 'ping', '{}');
  }

  const http = await startRelayHttp({
    post(channel, request, raw, query) {
      const ruling = rulingOn(request.headers, raw);
      if (!ruling.ok) return ruling;
      const message = publicLayout(request.headers, ruling.body, query);
      for (const subscriber of subscribers)
        if (subscriber.channel === channel) send(subscriber, undefined, message);
      return { status: 200 };
    },
    subscribe(channel, _request, response) {
      const subscriber = { channel, response, sent: 0 };
      response.writeHead(200, streamHeaders);
      subscribers.add(subscriber);
      response.on('close', () => subscribers.delete(subscriber));
      send(subscriber, 'ready', '{}');
    },
  });
  const timer = setInterval(ping, pingMs).unref();

  return {
    url: http.url,
    newChannel: http.newChannel,
    subscribers: () => subscribers.size,
    ping,
    cutAll: http.cutAll,
    async stop() {
      clearInterval(timer);
      await http.close();
    },
  };
}

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-no-compression': '1',
};

/** All request headers as top-level keys, then the body, the query and the time. */
export function publicLayout(headers: IncomingHttpHeaders, body: unknown, query: URLSearchParams): string {
  return JSON.stringify({ ...headers, body, query: Object.fromEntries(query), timestamp: Date.now() });
}
