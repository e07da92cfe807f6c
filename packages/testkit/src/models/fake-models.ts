// A local server with the APIs of the model vendors, each under its own path, and with their faults. No streaming: a
// request for a stream is rejected.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Board } from 'svc-monitor/src/kernel/board/board.ts';
import { onTestFinished } from 'vitest';
import { sampleAttention, sampleBoard, sampleTicket, sampleWorker } from '../state/sample-board.ts';

// The wire formats of the vendors: what a request must contain, and what a success and an error look like.

type WireRequest = { model: string; system: string; user: string };
export type Usage = { input: number; output: number; cachedInput: number };

export type WireFormat = {
  keyIn: (headers: Record<string, string | string[] | undefined>) => string | undefined;
  /** Undefined if the vendor would reject the body. */
  read: (body: Fields) => WireRequest | undefined;
  success: (model: string, text: string, usage: Usage) => object;
  failure: (status: number, message: string) => object;
};

export type Fields = Record<string, unknown>;

const bearer: WireFormat['keyIn'] = ({ authorization }) =>
  typeof authorization === 'string' ? /^Bearer (.+)$/.exec(authorization)?.[1] : undefined;

/** POST /messages. */
export const messages: WireFormat = {
  keyIn: (headers) =>
    typeof headers['x-api-key'] === 'string' && headers['anthropic-version'] === '2023-06-01'
      ? headers['x-api-key']
      : undefined,
  read({ model, max_tokens, messages: turns, system, stream }) {
    if (typeof model !== 'string' || !Number.isInteger(max_tokens) || stream === true) return undefined;
    return { model, system: textIn(system), user: textIn(turns) };
  },
  success: (model, text, { input, output, cachedInput }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: input - cachedInput,
      cache_read_input_tokens: cachedInput,
      cache_creation_input_tokens: 0,
      output_tokens: output,
    },
  }),
  failure: (status, message) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message },
  }),
};

/** POST /responses. */
export const responses: WireFormat = {
  keyIn: bearer,
  read({ model, input, instructions, stream, store }) {
    if (typeof model !== 'string' || !Array.isArray(input) || stream === true || store !== false)
      return undefined;
    const isSystem = (turn: unknown): boolean =>
      ['system', 'developer'].includes(String((turn as { role?: unknown }).role));
    return {
      model,
      system: textIn(instructions) + textIn(input.filter(isSystem)),
      user: textIn(input.filter((turn) => !isSystem(turn))),
    };
  },
  success: (model, text, { input, output, cachedInput }) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_350_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model,
    output: [
      {
        id: 'item_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cachedInput },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }),
  failure: (_status, message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: 'error' },
  }),
};

/** POST /chat/completions. */
export const chatCompletions: WireFormat = {
  keyIn: bearer,
  read({ model, messages: turns, stream }) {
    if (typeof model !== 'string' || !Array.isArray(turns) || stream === true) return undefined;
    const isSystem = (turn: unknown): boolean => (turn as { role?: unknown }).role === 'system';
    return {
      model,
      system: textIn(turns.filter(isSystem)),
      user: textIn(turns.filter((turn) => !isSystem(turn))),
    };
  },
  success: (model, text, { input, output, cachedInput }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_767_350_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cachedInput },
    },
  }),
  failure: (_status, message) => ({ error: { message, type: 'error', param: null, code: null } }),
};

/** Every text in a tree of messages and parts. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (typeof value !== 'object' || value === null) return '';
  const { text, content } = value as Fields;
  return textIn(text) + textIn(content);
}

export type ModelCall = {
  /** The path, such as `/provider-a/v1/messages`. */
  path: string;
  model: string;
  system: string;
  user: string;
  at: number;
  /** The client disconnected before the answer. */
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

// What may go wrong at a model vendor. Errors quote the key, as some vendors do: our own messages must not.
export type ModelFault =
  /** The answer stops in the middle of its body. */
  | { kind: 'cut' }
  | { kind: 'status'; status: number; retryAfter?: string }
  /** No answer until the client disconnects. */
  | { kind: 'slow' }
  /** The answer starts and does not continue. */
  | { kind: 'stalled' }
  /** 200, but not JSON. */
  | { kind: 'malformed' }
  /** 200 and JSON, but not in the vendor's format. */
  | { kind: 'wrong-shape' }
  | { kind: 'empty' }
  /** An endless body. */
  | { kind: 'endless' }
  | { kind: 'redirect'; to: string }
  /** Success, but only after this time. */
  | { kind: 'late'; afterMs: number };

// The model vendors for one test, and a small run to summarise.

/** Stopped after the test. */
export async function modelsForTest(key: string): Promise<FakeModels> {
  const models = await startFakeModels({ key });
  onTestFinished(models.close);
  return models;
}

/** The run `run-1`: ENG-1 is being implemented, ENG-2 has stalled and needs a person. */
export function boardWithRun(): Board {
  return sampleBoard({
    workers: [sampleWorker(), sampleWorker({ ticket: 'ENG-2', status: 'stalled' })],
    tickets: [sampleTicket(), sampleTicket({ ticket: 'ENG-2', title: 'Pay by invoice' })],
    attention: [sampleAttention({ ticket: 'ENG-2' })],
  });
}
