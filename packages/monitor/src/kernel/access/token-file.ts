// The token file of a daemon that requires a token. It is created when such a daemon starts, and does not exist while the
// daemon identifies users.
import { join } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';
import { readTextNow } from '@svc/lib/paths';

export function tokenFile(dataDir: string): string {
  return join(dataDir, 'api-token');
}

/** Undefined when the daemon requires no token. */
export function readToken(dataDir: string): string | undefined {
  return ifPresentSync(() => readTextNow(tokenFile(dataDir)).trim());
}

export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

// The token of the hooks in agents' settings. It is created with the first of them, and stays until a person removes it.

export function hookTokenFile(dataDir: string): string {
  return join(dataDir, 'hook-token');
}

/** Undefined when there is none. */
export function readHookToken(dataDir: string): string | undefined {
  return ifPresentSync(() => readTextNow(hookTokenFile(dataDir)).trim()) || undefined;
}
