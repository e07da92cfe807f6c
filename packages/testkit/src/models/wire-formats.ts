// The wire formats of the vendors: what a request must hold, and what a success and an error look like.

type WireRequest = { model: string; system: string; user: string };
export type Usage = { input: number; output: number; cachedInput: number };

export type WireFormat = {
  keyIn: (headers: Record<string, string | string[] | undefined>) => string | undefined;
  /** Undefined when the vendor would refuse the body. */
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

/** Every text in a tree of turns and parts. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (typeof value !== 'object' || value === null) return '';
  const { text, content } = value as Fields;
  return textIn(text) + textIn(content);
}
