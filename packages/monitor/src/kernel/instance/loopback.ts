// HTTP to a port of this machine. Not by the global `fetch`, which takes longer to load than most commands take to run, and
// not with Node's shared agent, which may use a proxy.
import type { Fetch } from '@svc/client';

/** A board of a large team has ten megabytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/** An answer is read as a whole, so it is not for streams. */
export const askLoopback: Fetch = loopback(MOST_BYTES);

/** A longer answer is an error. */
export function loopback(mostBytes: number): Fetch {
  return (url, request) => ask(url, request, mostBytes);
}

function ask(
  url: string,
  { method, headers, body, signal }: Parameters<Fetch>[1],
  mostBytes: number,
): ReturnType<Fetch> {
  const { Agent, request } = process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(signal?.aborted ? signal.reason : error);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const options = {
      method,
      headers: { ...headers, ...length },
      agent: new Agent(),
      ...(signal && { signal }),
    };
    request(url, options, (response) => {
      const status = response.statusCode ?? 0;
      resolve({
        ok: status >= 200 && status < 300,
        status,
        headers: {
          get(name) {
            const value = response.headers[name.toLowerCase()];
            return value === undefined ? null : String(value);
          },
        },
        body: null,
        text: () => textOf(response, mostBytes, signal),
      });
    })
      .on('error', fail)
      .end(body);
  });
}

async function textOf(
  response: AsyncIterable<Buffer>,
  mostBytes: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response) {
      bytes += part.length;
      if (bytes > mostBytes) throw new Error('the answer is too large');
      parts.push(part);
    }
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
  return Buffer.concat(parts).toString('utf8');
}
