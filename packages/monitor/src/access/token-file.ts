// The file that holds the token of a daemon that asks for one. It is made when such a daemon starts, and is not there
// while the daemon goes by users.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';

export function tokenFile(dataDir: string): string {
  return join(dataDir, 'api-token');
}

/** Undefined where the daemon asks for none. */
export function readToken(dataDir: string): string | undefined {
  return ifPresentSync(() => readFileSync(tokenFile(dataDir), 'utf8').trim());
}

/** The header that a program sends. */
export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
