// A port that stays ours while its server is down. Below the range for outgoing connections: a sender that connects to
// a closed port in that range may end up connected to itself. Until the server listens, only a file with our process id
// keeps other test processes from taking the port.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processExists, readPid } from '@svc/lib/pid';
import type { Random } from '../random.ts';

const claims = join(tmpdir(), 'svc-test-ports');

export async function freePort(random: Random): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = 20_000 + random.below(10_000);
    if (claim(port) && (await isFree(port))) return port;
  }
  throw new Error('No free port between 20000 and 30000');
}

function claim(port: number): boolean {
  mkdirSync(claims, { recursive: true });
  const file = join(claims, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const holder = readPid(readFileSync(file, 'utf8'));
    if (holder !== undefined && processExists(holder)) return false;
    writeFileSync(file, String(process.pid));
    return true;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
