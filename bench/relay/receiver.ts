// A receiver of the bench, in a separate process: the daemon's tunnel at our relay, or the unchanged public client
// package at a peer. It counts each delivery once, and measures its latency.
import { createServer } from 'node:http';
import { SmeeClient } from 'smee-client';
import { createTunnel } from '../../packages/monitor/src/features/feeds/io/tunnel.ts';
import { listen, type Spread, spreadOf } from '../../packages/testkit/src/script.ts';
import { answerOrders, sharedNow } from '../child.ts';

export type ReceiverOrder =
  | { what: 'connect'; by: 'tunnel'; url: string; readKey: string | null }
  | { what: 'connect'; by: 'public client'; url: string }
  | { what: 'report' }
  | { what: 'forget' };

export type Arrivals = Spread & {
  distinct: number;
  again: number;
  /** When the last one arrived, by the shared clock. */
  lastAt: number;
};

let latencies: number[] = [];
let known = new Set<string>();
let again = 0;
let lastAt = 0;

answerOrders(async (order: ReceiverOrder): Promise<Arrivals> => {
  if (order.what === 'connect')
    await (order.by === 'tunnel' ? openTunnel(order.url, order.readKey) : startPublicClient(order.url));
  if (order.what === 'forget') {
    latencies = [];
    known = new Set();
    again = 0;
  }
  return { ...spreadOf(latencies), distinct: known.size, again, lastAt };
});

function note(headers: Readonly<Record<string, unknown>>): void {
  const deliveryId = String(headers['x-codehost-delivery']);
  lastAt = sharedNow();
  if (known.has(deliveryId)) again += 1;
  else latencies.push(lastAt - Number(headers['x-bench-sent-at']));
  known.add(deliveryId);
}

async function openTunnel(url: string, readKey: string | null): Promise<void> {
  const tunnel = createTunnel({
    feed: 'bench',
    channel: { use: true, url },
    receive: async ({ headers }) => {
      note(headers);
      return { status: 200, outcome: 'accepted' };
    },
    cursorOf: () => null,
    logger: { info: () => undefined, warn: console.warn, error: console.error },
    readKey: { variable: 'none', fileName: 'none', value: readKey ?? undefined },
  });
  tunnel.start();
  if (!(await tunnel.up(20_000))) throw new Error('the relay cannot be reached');
}

async function startPublicClient(source: string): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      note(request.headers);
      response.end();
    });
  });
  const target = `http://127.0.0.1:${(await listen(server)).port}`;
  const quiet = (): void => undefined;
  await new SmeeClient({ source, target, logger: { info: quiet, error: quiet } }).start();
}
