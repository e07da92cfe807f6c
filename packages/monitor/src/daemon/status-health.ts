// Asks a port of this machine who answers there; bounded in time and size. Nothing is sent to another user's program.
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { DaemonIdentity } from '@svc/core';
import { authorization } from '../access/token-file.ts';
import { isOurs } from './instance.ts';

const PATIENCE_MS = 2_000;

/**
 * The daemon that answers on the port, or undefined when none does. Which daemon it is, the caller judges. A token is
 * for the daemon that holds the data root, and for no other port.
 */
export async function askHealth(
  dataDir: string,
  port: number,
  { token, patienceMs = PATIENCE_MS }: { token?: string | undefined; patienceMs?: number } = {},
): Promise<DaemonIdentity | undefined> {
  try {
    if (!(await isOurs(dataDir, port, token))) return undefined;
    const said = await body(port, authorization(token), AbortSignal.timeout(patienceMs));
    const answer = DaemonIdentity.safeParse(JSON.parse(said));
    return answer.success ? answer.data : undefined;
  } catch (error) {
    // Refused, silent, cut off or not JSON: whatever it is, it is not a daemon that answers.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function body(port: number, headers: Record<string, string>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // An agent of its own: the shared one may be told to use a proxy, and loopback never does.
    const options = { host: '127.0.0.1', port, path: '/api/health', headers, agent: new Agent(), signal };
    get(options, (response) => {
      if (response.statusCode === 200) return resolve(text(response));
      response.destroy();
      reject(new Error(`status ${response.statusCode}`));
    }).on('error', reject);
  });
}
