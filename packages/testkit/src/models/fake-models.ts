// A local server that speaks as the model vendors do, each under a path of its own, with the faults that they
// have. Not streaming: a request for a stream is refused.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ModelFault } from './faults.ts';
import {
  chatCompletions,
  type Fields,
  messages,
  responses,
  type Usage,
  type WireFormat,
} from './wire-formats.ts';

export type ModelCall = {
  /** The path, such as `/provider-a/v1/messages`. */
  path: string;
  model: string;
  system: string;
  user: string;
  at: number;
  /** The client went away before it was answered. */
  wasLeft: boolean;
};

export type FakeModels = Awaited<ReturnType<typeof startFakeModels>>;

const routes: Readonly<Record<string, WireFormat>> = {
  '/provider-a/v1/messages': messages,
  '/provider-b/v1/responses': responses,
  '/provider-c/v1/responses': responses,
  '/gateway/v1/messages': messages,
  '/gateway/v1/chat/completions': chatCompletions,
};

/** `key` is the one that every vendor accepts. Stop it with `close`. */
export async function startFakeModels({ key }: { key: string }) {
  const calls: ModelCall[] = [];
  const faults: ModelFault[] = [];
  let always: ModelFault | undefined;
  let answer = 'All is well.';
  let usage: Usage = { input: 1000, output: 100, cachedInput: 0 };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const format = routes[path];
    const body = await bodyOf(request);
    if (format === undefined) return send(response, 404, { error: { message: 'no such path' } });
    const given = format.keyIn(request.headers);
    if (given !== key)
      return send(response, 401, format.failure(401, `Incorrect API key provided: ${given}`));
    const read = format.read(body);
    if (read === undefined) return send(response, 400, format.failure(400, 'not a request of this vendor'));
    const call = { path, ...read, at: Date.now(), wasLeft: false };
    calls.push(call);
    response.once('close', () => {
      call.wasLeft = !response.writableFinished;
    });
    const success = (text: string): object => format.success(read.model, text, usage);
    const fault = faults.shift() ?? always;
    if (fault === undefined) return send(response, 200, success(answer));
    await spoil(response, fault, format, success);
  }

  async function spoil(
    response: ServerResponse,
    fault: ModelFault,
    format: WireFormat,
    success: (text: string) => object,
  ): Promise<void> {
    const begun = (then = (): void => undefined): void => {
      const text = JSON.stringify(success(answer));
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      response.write(text.slice(0, text.length / 2), then);
    };
    switch (fault.kind) {
      case 'cut':
        return begun(() => response.destroy());
      case 'status':
        if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter);
        return send(response, fault.status, format.failure(fault.status, `it failed for the key ${key}`));
      case 'slow':
        return;
      case 'stalled':
        return begun();
      case 'malformed':
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(`<html>not JSON, with ${key}</html>`);
        return;
      case 'wrong-shape':
        return send(response, 200, { content: key, output: key, choices: key });
      case 'empty':
        return send(response, 200, success(''));
      case 'endless':
        return endless(response);
      case 'redirect':
        response.writeHead(307, { Location: fault.to });
        response.end();
        return;
      case 'late':
        setTimeout(() => send(response, 200, success(answer)), fault.afterMs);
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    calls,
    /** `models.baseUrl('provider-a')` */
    baseUrl: (vendor: 'provider-a' | 'provider-b' | 'provider-c' | 'gateway') =>
      `http://127.0.0.1:${port}/${vendor}/v1`,
    /** For the next requests, one each. */
    failNext: (...next: ModelFault[]) => void faults.push(...next),
    failAlways: (fault: ModelFault) => {
      always = fault;
    },
    says: (text: string, figures: Partial<Usage> = {}) => {
      answer = text;
      usage = { ...usage, ...figures };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Fields> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  try {
    const body: unknown = JSON.parse(Buffer.concat(parts).toString());
    return typeof body === 'object' && body !== null ? (body as Fields) : {};
  } catch {
    return {};
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const part = ' '.repeat(64 * 1024);
  const more = (): void => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
