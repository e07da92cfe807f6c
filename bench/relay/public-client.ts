// The public client package, unchanged, with a small HTTP server as its target: the other side of `--peer`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SmeeClient } from 'smee-client';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { answerOrders } from './child.ts';

export type PublicClientOrder = { what: 'connect'; url: string } | { what: 'report' } | { what: 'forget' };

const arrivals = createArrivals();
const quiet = (): void => undefined;

answerOrders(async (order: PublicClientOrder): Promise<Arrivals> => {
  if (order.what === 'connect') await connect(order.url);
  if (order.what === 'forget') arrivals.forget();
  return arrivals.report();
});

async function connect(source: string): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const { headers } = request;
      arrivals.note(String(headers['x-codehost-delivery']), String(headers['x-bench-sent-at']));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new SmeeClient({ source, target, logger: { info: quiet, error: quiet } });
  await client.start();
}
