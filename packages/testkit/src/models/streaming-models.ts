// One loopback server that answers as four model APIs do when they stream: Anthropic Messages, OpenAI Responses, OpenAI
// chat completions and Gemini. What it answers is decided by a function that sees the last prompt, how many results of
// tools came since, and which tools are offered. Shapes follow the vendors' published references.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type ModelFormat = 'anthropic' | 'responses' | 'chat' | 'gemini';

export type Asked = {
  format: ModelFormat;
  /** The last text of a person that holds the marker, or an empty text. */
  prompt: string;
  /** Results of tools after it. */
  results: number;
  /** Texts with the marker before it: the history that the agent sent along. */
  earlier: number;
  tools: readonly string[];
  /** Whether the request had a key of the vendor, in any of the usual headers. */
  hasKey: boolean;
};

export type Reply = {
  thought?: string;
  text?: string;
  /** Raw text for a tool that takes no JSON. */
  tool?: { name: string; input: object | string };
  /** A word at a time, so many milliseconds apart. */
  everyMs?: number;
  /** After so many words it waits until then, or until the agent closes the connection. */
  hold?: { afterWords: number; until: Promise<unknown> };
  /** Fails with this status instead. */
  status?: number;
};

export type StreamingModels = {
  url: string;
  port: number;
  asked: readonly Asked[];
  close: () => Promise<void>;
};

type Json = { [name: string]: unknown };
type Stream = { response: ServerResponse; reply: Reply; request: Json; number: number };

const USAGE = { input: 1500, cached: 300, output: 87 };

/** `marker` is a text that only prompts of the test hold: titles and other side requests do not. */
export async function startStreamingModels(
  marker: string,
  replyTo: (asked: Asked) => Reply,
): Promise<StreamingModels> {
  const asked: Asked[] = [];
  let number = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = objectIn(Buffer.concat(pieces).toString());
    const path = request.url ?? '';
    const format = formatOf(path);
    if (format === undefined) return sendJson(response, ...sideAnswer(path));
    const conversation = formats[format].read(body).toReversed();
    const last = conversation.findIndex(({ text }) => text.includes(marker));
    const results = conversation.slice(0, last < 0 ? 0 : last).filter(({ isResult }) => isResult).length;
    const question: Asked = {
      format,
      prompt: conversation[last]?.text ?? '',
      results,
      earlier: conversation.slice(last + 1).filter(({ text }) => text.includes(marker)).length,
      tools: formats[format].tools(body),
      hasKey: ['authorization', 'x-api-key', 'x-goog-api-key'].some((name) => request.headers[name]),
    };
    asked.push(question);
    number += 1;
    // Without tools it asks for a title or the like.
    const reply =
      question.prompt === '' || question.tools.length === 0 ? { text: 'A title' } : replyTo(question);
    if (reply.status !== undefined)
      return sendJson(response, reply.status, { error: { type: 'api_error', message: 'it failed' } });
    const stream = { response, reply, request: body, number };
    if (format !== 'gemini' && body['stream'] !== true)
      return sendJson(response, 200, formats[format].whole(stream));
    if (format === 'gemini' && !path.includes('streamGenerateContent'))
      return sendJson(response, 200, formats.gemini.whole(stream));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    await formats[format].stream(stream);
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function formatOf(path: string): ModelFormat | undefined {
  if (/\/v1\/messages(?:\?|$)/.test(path)) return 'anthropic';
  if (path.includes('/responses')) return 'responses';
  if (path.includes('/chat/completions')) return 'chat';
  return /generateContent/i.test(path) ? 'gemini' : undefined;
}

function sideAnswer(path: string): [number, object] {
  if (path.includes('count_tokens')) return [200, { input_tokens: 1000 }];
  if (path.includes('countTokens')) return [200, { totalTokens: 1000 }];
  if (path.includes('/models'))
    return [200, { object: 'list', data: [{ id: 'fake-1', object: 'model' }], models: [] }];
  return [404, { error: { type: 'not_found_error', message: 'no such path' } }];
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

type Said = { text: string; isResult: boolean };
type Format = {
  /** What people and tools said, in order. */
  read: (body: Json) => Said[];
  tools: (body: Json) => string[];
  stream: (stream: Stream) => Promise<void>;
  whole: (stream: Stream) => object;
};

const anthropic: Format = {
  read: (body) =>
    listIn(body['messages']).flatMap(({ role, content }) => {
      if (role !== 'user') return [];
      if (typeof content === 'string') return [{ text: content, isResult: false }];
      return listIn(content).map((block) => ({
        text: block['type'] === 'text' ? textOf(block) : '',
        isResult: block['type'] === 'tool_result',
      }));
    }),
  tools: (body) => listIn(body['tools']).map(({ name }) => String(name)),
  async stream(stream) {
    const { response, reply, request, number } = stream;
    const event = (type: string, fields: object): void =>
      void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    const usage = {
      input_tokens: USAGE.input - USAGE.cached,
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    };
    const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: request['model'] };
    event('message_start', {
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage },
    });
    let index = 0;
    const block = async (start: object, deltas: () => AsyncIterable<object> | object[]): Promise<void> => {
      event('content_block_start', { index, content_block: start });
      for await (const delta of deltas()) event('content_block_delta', { index, delta });
      event('content_block_stop', { index });
      index += 1;
    };
    const { thought, text, tool } = reply;
    if (thought !== undefined)
      await block({ type: 'thinking', thinking: '', signature: '' }, () => [
        { type: 'thinking_delta', thinking: thought },
        { type: 'signature_delta', signature: 'c2ln' },
      ]);
    if (text !== undefined)
      await block({ type: 'text', text: '' }, () =>
        mapped(wordsOf(stream), (word) => ({ type: 'text_delta', text: word })),
      );
    if (tool !== undefined)
      await block({ type: 'tool_use', id: `toolu_${number}`, name: tool.name, input: {} }, () => [
        { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) },
      ]);
    event('message_delta', {
      delta: { stop_reason: tool === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    });
    event('message_stop', {});
  },
  whole: ({ reply, request, number }) => ({
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: request['model'],
    content: [{ type: 'text', text: reply.text ?? '' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
};

const responses: Format = {
  read: (body) =>
    listIn(body['input']).map((item) => ({
      text: item['role'] === 'user' ? textOf(item) : '',
      isResult: typeof item['type'] === 'string' && item['type'].endsWith('_output'),
    })),
  tools: (body) =>
    [
      ...listIn(body['tools']),
      // Some models are given their tools as a part of the input.
      ...listIn(body['input']).flatMap(({ type, tools }) =>
        type === 'additional_tools' ? listIn(tools) : [],
      ),
    ].flatMap(({ type, name, tools }) =>
      type === 'namespace' ? listIn(tools).map((one) => String(one['name'])) : [String(name ?? type)],
    ),
  async stream(stream) {
    const { response, reply, request, number } = stream;
    let sequence = 0;
    const event = (type: string, fields: object): void => {
      response.write(
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`,
      );
      sequence += 1;
    };
    const about = { id: `resp_${number}`, object: 'response', model: request['model'] };
    const output: object[] = [];
    event('response.created', { response: { ...about, status: 'in_progress', output: [] } });
    const { thought, text, tool } = reply;
    if (thought !== undefined) {
      const item = { id: `rs_${number}`, type: 'reasoning', summary: [], encrypted_content: 'x' };
      const at = { item_id: item.id, output_index: output.length, summary_index: 0 };
      event('response.output_item.added', { output_index: output.length, item });
      event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
      event('response.reasoning_summary_text.delta', { ...at, delta: thought });
      const done = { ...item, summary: [{ type: 'summary_text', text: thought }] };
      event('response.output_item.done', { output_index: output.length, item: done });
      output.push(done);
    }
    if (text !== undefined) {
      const item = { id: `item_${number}`, type: 'message', role: 'assistant' };
      const at = { item_id: item.id, output_index: output.length, content_index: 0 };
      const empty = { type: 'output_text', text: '', annotations: [] };
      event('response.output_item.added', {
        output_index: output.length,
        item: { ...item, status: 'in_progress', content: [] },
      });
      event('response.content_part.added', { ...at, part: empty });
      for await (const word of wordsOf(stream)) event('response.output_text.delta', { ...at, delta: word });
      const done = { ...item, status: 'completed', content: [{ ...empty, text }] };
      event('response.output_item.done', { output_index: output.length, item: done });
      output.push(done);
    }
    if (tool !== undefined) {
      const isRaw = typeof tool.input === 'string';
      const call = { call_id: `call_${number}`, name: tool.name, status: 'completed' };
      const item = isRaw
        ? { id: `ctc_${number}`, type: 'custom_tool_call', ...call, input: tool.input }
        : { id: `fc_${number}`, type: 'function_call', ...call, arguments: JSON.stringify(tool.input) };
      event('response.output_item.added', { output_index: output.length, item });
      event('response.output_item.done', { output_index: output.length, item });
      output.push(item);
    }
    const usage = {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens: USAGE.output,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: USAGE.input + USAGE.output,
    };
    event('response.completed', { response: { ...about, status: 'completed', output, usage } });
  },
  whole: ({ reply, request, number }) => ({
    id: `resp_${number}`,
    object: 'response',
    status: 'completed',
    model: request['model'],
    output: [
      {
        id: `item_${number}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: reply.text ?? '', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
};

const chat: Format = {
  read: (body) =>
    listIn(body['messages']).map((message) => ({
      text: message['role'] === 'user' ? textOf(message) : '',
      isResult: message['role'] === 'tool',
    })),
  tools: (body) =>
    listIn(body['tools']).map(({ function: one }) => String((one as Json | undefined)?.['name'])),
  async stream(stream) {
    const { response, reply, request, number } = stream;
    const about = {
      id: `chatcmpl-${number}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: request['model'],
    };
    const send = (fields: object): void =>
      void response.write(`data: ${JSON.stringify({ ...about, ...fields })}\n\n`);
    const delta = (fields: object, finish: string | null = null): void =>
      send({ choices: [{ index: 0, delta: fields, finish_reason: finish }] });
    const { thought, text, tool } = reply;
    delta({ role: 'assistant', content: '' });
    if (thought !== undefined) delta({ reasoning_content: thought });
    if (text !== undefined) for await (const word of wordsOf(stream)) delta({ content: word });
    if (tool !== undefined) {
      const call = { name: tool.name, arguments: JSON.stringify(tool.input) };
      delta({ tool_calls: [{ index: 0, id: `call_${number}`, type: 'function', function: call }] });
    }
    delta({}, tool === undefined ? 'stop' : 'tool_calls');
    send({
      choices: [],
      usage: {
        prompt_tokens: USAGE.input,
        completion_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        prompt_tokens_details: { cached_tokens: USAGE.cached },
      },
    });
    response.write('data: [DONE]\n\n');
  },
  whole: ({ reply, request, number }) => ({
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1,
    model: request['model'],
    choices: [{ index: 0, message: { role: 'assistant', content: reply.text ?? '' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
};

const gemini: Format = {
  read: (body) =>
    listIn(body['contents']).flatMap(({ role, parts }) =>
      role === 'model'
        ? []
        : listIn(parts).map((part) => ({
            text: typeof part['text'] === 'string' ? part['text'] : '',
            isResult: part['functionResponse'] !== undefined,
          })),
    ),
  tools: (body) =>
    listIn(body['tools']).flatMap(({ functionDeclarations }) =>
      listIn(functionDeclarations).map(({ name }) => String(name)),
    ),
  async stream(stream) {
    const { response, reply } = stream;
    const send = (parts: object[], finish?: string): void => {
      const content = { role: 'model', parts };
      const candidates = [{ content, index: 0, ...(finish !== undefined && { finishReason: finish }) }];
      const usageMetadata = {
        promptTokenCount: USAGE.input,
        candidatesTokenCount: USAGE.output,
        totalTokenCount: USAGE.input + USAGE.output,
        cachedContentTokenCount: USAGE.cached,
      };
      response.write(`data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'fake' })}\n\n`);
    };
    const { thought, text, tool } = reply;
    if (thought !== undefined) send([{ text: `**Thinking** ${thought}`, thought: true }]);
    if (text !== undefined) for await (const word of wordsOf(stream)) send([{ text: word }]);
    if (tool !== undefined) send([{ functionCall: { name: tool.name, args: tool.input } }]);
    send([{ text: '' }], 'STOP');
  },
  /** Asked without a stream for small decisions, as JSON. */
  whole: ({ reply, request }) => {
    const settings = request['generationConfig'] as Json | undefined;
    const decision = { reasoning: '', next_speaker: 'user', model_choice: 'flash', complexity_score: 1 };
    const isJson = settings?.['responseMimeType'] === 'application/json';
    const text = isJson ? JSON.stringify(decision) : (reply.text ?? '');
    return {
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
  },
};

const formats: Readonly<Record<ModelFormat, Format>> = { anthropic, responses, chat, gemini };

async function* wordsOf({ response, reply }: Stream): AsyncGenerator<string> {
  const { text = '', everyMs = 0, hold } = reply;
  for (const [index, word] of text.split(/(?<= )/).entries()) {
    if (index === hold?.afterWords) await Promise.race([hold.until, once(response, 'close')]);
    if (everyMs > 0 || index % 50 === 49) await sleep(everyMs);
    yield word;
  }
}

async function* mapped<From, To>(items: AsyncIterable<From>, change: (item: From) => To): AsyncGenerator<To> {
  for await (const item of items) yield change(item);
}

function objectIn(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}

function listIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}

/** The text of a block, or of all blocks of a message. */
function textOf({ text, content }: Json): string {
  if (typeof text === 'string') return text;
  return typeof content === 'string' ? content : listIn(content).map(textOf).join('\n');
}
