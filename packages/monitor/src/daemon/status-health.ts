// Asks a port of this machine who answers there; bounded in time and size.
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { DaemonIdentity } from '@svc/core';

const PATIENCE_MS = 2_000;

/** The daemon that answers on the port, or undefined when none does. Whose daemon it is, the caller judges. */
export async function askHealth(port: number, patienceMs = PATIENCE_MS): Promise<DaemonIdentity | undefined> {
  try {
    const answer = DaemonIdentity.safeParse(JSON.parse(await body(port, AbortSignal.timeout(patienceMs))));
    return answer.success ? answer.data : undefined;
  } catch (error) {
    // Refused, silent, cut off or not JSON: whatever it is, it is not a daemon that answers.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function body(port: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // An agent of its own: the shared one may be told to use a proxy, and loopback never does.
    const options = { host: '127.0.0.1', port, path: '/api/health', agent: new Agent(), signal };
    get(options, (response) => {
      if (response.statusCode === 200) return resolve(text(response));
      response.destroy();
      reject(new Error(`status ${response.statusCode}`));
    }).on('error', reject);
  });
}
