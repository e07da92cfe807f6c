// A port that stays ours while its server is down. Below the range that the system gives to outgoing
// connections: a sender that knocks at a closed port of that range may end up connected to itself.
import { createServer } from 'node:net';
import type { Random } from '../random.ts';

export async function freePort(random: Random): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = 20_000 + random.below(10_000);
    if (await isFree(port)) return port;
  }
  throw new Error('No free port between 20000 and 30000');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
