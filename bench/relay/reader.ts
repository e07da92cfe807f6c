// A subscriber of our relay for the bench: the daemon's own tunnel, with a callback that counts and measures.
import { createTunnel, type Tunnel } from '../../packages/monitor/src/tunnel/tunnel.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { answerOrders } from './child.ts';

export type ReaderOrder =
  | { what: 'connect'; url: string; readKey: string | null }
  | { what: 'report' }
  | { what: 'forget' };

const arrivals = createArrivals();
const quiet = (): void => undefined;
let tunnel: Tunnel | undefined;

answerOrders(async (order: ReaderOrder): Promise<Arrivals> => {
  if (order.what === 'connect') await connect(order.url, order.readKey);
  if (order.what === 'forget') arrivals.forget();
  return arrivals.report();
});

async function connect(url: string, readKey: string | null): Promise<void> {
  tunnel = createTunnel({
    feed: 'bench',
    channel: { use: true, url },
    receive: async ({ headers }) => {
      arrivals.note(String(headers['x-codehost-delivery']), String(headers['x-bench-sent-at']));
      return { status: 200, outcome: 'accepted' };
    },
    cursorOf: () => null,
    logger: { info: quiet, warn: console.warn, error: console.error },
    readKey: { variable: 'none', fileName: 'none', value: readKey ?? undefined },
  });
  tunnel.start();
  if (!(await tunnel.up(20_000))) throw new Error('The relay cannot be reached');
}
