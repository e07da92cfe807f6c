// How the demo speaks to its daemon.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the daemon answers, and what is sent with every request. */
export type DaemonAddress = { url: string; headers: Record<string, string> };

/** A daemon that cannot tell users apart, as on macOS, asks for the token of a file. */
export function tokenHeader(dataDir: string): Record<string, string> {
  const file = join(dataDir, 'api-token');
  return existsSync(file) ? { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` } : {};
}
