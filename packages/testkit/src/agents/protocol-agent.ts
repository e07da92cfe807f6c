// A small agent that speaks the Agent Client Protocol on its standard input and output, as the real ones do. What it does
// is in the text of a prompt: `say 3` writes three chunks, `ask` asks for a permission and says what was answered,
// `wait` goes on until it is cancelled, `question` asks for something that no client offers, `work <name> 4 2` writes four
// chunks with pauses and asks two permissions in between, `do [["chunks",3],["exit",1]]` takes steps, also where that is a
// line of a longer prompt: it obeys anyone who wrote that. A line `Write the word x.` adds a line to words.txt. It writes each
// prompt and each answer that it gets to the file in RECEIVED, so that a test can count them; `TICKET` in it is replaced
// by the ticket. AS makes it an agent that cannot be used: `version-2`, `logged-out`, `silent` or `ended`. ANSWERS has
// other answers by method; null: none. STAYS keeps it alive without input. LOGIN is the login that it reports on its own,
// as JSON, some time after it has opened a session. With the argument `offers` it also has models and commands, and writes
// down how they are set; its model `lost` is never confirmed. With `images` it takes images, and writes down their data.
import { execSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

type Message = {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
};

const received = process.env['RECEIVED']?.replace('TICKET', process.env['SVC_TICKET'] ?? '');
const PAUSE_MS = 25;
/** Characters. */
const FLOOD_CHUNK = 64 * 1024;
const as = process.env['AS'];
const login = process.env['LOGIN'];
/** Only for a ticket: the check of an agent before a run gets the usual answers. */
const otherAnswers: Record<string, object | null> = JSON.parse(
  (process.env['SVC_TICKET'] && process.env['ANSWERS']) || '{}',
);
/** Messages that are replayed when a session is loaded. */
const REPLAYED = 500;
if (process.env['STAYS'] !== undefined) setInterval(() => undefined, 60_000);
const sessionId = 'session-1';
const waiting = new Map<number | string, (message: Message) => void>();
const turns = new Set<() => void>();
let asked = 0;
let answers = 0;
let said = 0;
let mode = 'auto';
const models = ['small', 'large', 'lost'];
let model = 'small';
const offersMore = process.argv.includes('offers');

const write = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (fields: object): void =>
  write({ method: 'session/update', params: { sessionId, update: fields } });
const note = (text: string): void => {
  if (received !== undefined) appendFileSync(received, `${text}\n`);
};

if (as === 'ended') {
  process.stderr.write('no configuration found\n');
  process.exit(3);
}

if (as === 'silent') note(`${process.pid}`);

createInterface({ input: process.stdin }).on('line', (line) => {
  let message: Message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  if (message.method === undefined) {
    answers += 1;
    note(`answer ${message.id} ${JSON.stringify(message.result ?? message.error)}`);
    return waiting.get(message.id ?? '')?.(message);
  }
  void handle(message, message.params ?? {});
});

async function handle({ id, method }: Message, params: Record<string, unknown>): Promise<void> {
  if (as === 'silent') return undefined;
  if (as === 'logged-out' && method === 'session/new')
    return write({ id, error: { code: -32000, message: 'Authentication required' } });
  const other = otherAnswers[method ?? ''];
  if (other !== undefined) return other === null ? undefined : write({ id, ...other });
  switch (method ?? '') {
    case 'initialize':
      return write({
        id,
        result: {
          protocolVersion: as === 'version-2' ? 2 : 1,
          agentInfo: { name: 'protocol-agent', version: '1.0.0' },
          agentCapabilities: {
            loadSession: true,
            ...(process.argv.includes('images') && { promptCapabilities: { image: true } }),
            sessionCapabilities: { resume: {}, close: {} },
            ...(login !== undefined && { _meta: { authStatus: {} } }),
          },
          authMethods: [],
        },
      });
    case 'session/load':
      for (let count = 0; count < REPLAYED; count += 1) say(`replayed ${count}`, `old-${count}`);
      return write({ id, result: { configOptions: options() } });
    case 'session/new':
    case 'session/resume':
      write({ id, result: { sessionId, configOptions: options() } });
      if (offersMore) update({ sessionUpdate: 'available_commands_update', availableCommands });
      if (login === undefined) return undefined;
      await sleep(PAUSE_MS);
      return write({ method: '_auth/status_update', params: { authStatus: JSON.parse(login) } });
    case 'session/set_config_option':
      if (offersMore) note(`set ${String(params['configId'])} ${String(params['value'])}`);
      if (params['configId'] === 'model') {
        if (!models.includes(String(params['value'])))
          return write({ id, error: { code: -32602, message: 'Unknown model' } });
        model = params['value'] === 'lost' ? model : String(params['value']);
        return write({ id, result: { configOptions: options() } });
      }
      if (params['value'] !== 'ask' && params['value'] !== 'auto')
        return write({
          id,
          error: { code: -32602, message: 'Invalid params', data: { details: 'unknown mode' } },
        });
      mode = params['value'];
      return write({ id, result: { configOptions: options() } });
    case 'session/cancel':
      for (const end of turns) end();
      turns.clear();
      return undefined;
    case 'session/prompt':
      return prompt(id, params);
    default:
      if (id !== undefined) write({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
}

const availableCommands = [
  { name: 'compact', description: 'Summarise the conversation', input: null },
  { name: 'review', description: 'Review a pull request', input: { hint: 'number' } },
];

const options = () => [
  ...(offersMore
    ? [
        {
          id: 'model',
          category: 'model',
          type: 'select',
          currentValue: model,
          options: models.map((value) => ({ value, name: `Model ${value}` })),
        },
      ]
    : []),
  {
    id: 'mode',
    category: 'mode',
    type: 'select',
    currentValue: mode,
    options: [
      { value: 'ask', name: 'Ask' },
      { value: 'auto', name: 'Auto' },
      // Offered, and refused when it is set.
      ...(process.argv.includes('broken-mode') ? [{ value: 'broken', name: 'Broken' }] : []),
    ],
  },
];

async function prompt(id: Message['id'], params: Record<string, unknown>): Promise<void> {
  const blocks = params['prompt'] as { text?: string; data?: string; mimeType?: string }[];
  for (const { data, mimeType } of blocks) if (data !== undefined) note(`image ${mimeType} ${data}`);
  const texts = blocks.flatMap(({ text }) => text ?? []);
  const given = texts.join('\n');
  const command = /^do \[.*$/m.exec(given)?.[0] ?? texts.at(-1) ?? '';
  const [, word] = /^Write the word (\w+)\./m.exec(given) ?? [];
  if (word !== undefined) appendFileSync('words.txt', `${word}\n`);
  const [what = '', amount = '1', ...numbers] = command.split(' ');
  note(`prompt ${given}`);
  const end = (stopReason: string): void => write({ id, result: { stopReason } });
  const chunk = (text: string): void => say(text, `m${id}`);
  if (what === 'do') return takeSteps(id, JSON.parse(command.slice(3)));
  if (what === 'ask') {
    await ask();
    return end('end_turn');
  }
  if (what === 'work') {
    const [chunks = 1, asks = 0, pauseMs = PAUSE_MS] = numbers.map(Number);
    for (let count = 0; count < Math.max(chunks, asks); count += 1) {
      if (count < chunks) chunk(`${amount}.${count} `);
      await sleep(pauseMs);
      if (count < asks) await ask();
    }
    return end('end_turn');
  }
  if (what === 'question') {
    const answer = await request('fs/read_text_file', { sessionId, path: '/etc/passwd' });
    chunk(`answered: ${JSON.stringify(answer)}`);
    return end('end_turn');
  }
  if (what === 'wait') {
    const cancelled = Promise.withResolvers<void>();
    turns.add(cancelled.resolve);
    await cancelled.promise;
    return end('cancelled');
  }
  for (let count = 0; count < Number(amount); count += 1) chunk(`${count} `);
  end('end_turn');
}

type Step = [kind: string, value?: unknown];

/** A turn whose steps are given; one without an end goes on until it is cancelled. */
async function takeSteps(id: Message['id'], steps: Step[]): Promise<void> {
  const cancelled = () => write({ id, result: { stopReason: 'cancelled' } });
  turns.add(cancelled);
  const before = answers;
  for (const [kind, value] of steps) {
    if (kind === 'line') write(value as object);
    if (kind === 'raw') process.stdout.write(Buffer.from(String(value), 'base64'));
    if (kind === 'say') say(String(value), `said-${said++}`);
    if (kind === 'asks') for (;;) await ask();
    if (kind === 'run') execSync(String(value), { stdio: 'ignore' });
    if (kind === 'chunks') for (let count = 0; count < Number(value); count += 1) say('x', `m${id}`);
    if (kind === 'flood')
      for (let left = Number(value); left > 0; left -= FLOOD_CHUNK) say('x'.repeat(FLOOD_CHUNK), `m${id}`);
    if (kind === 'tool')
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 'large',
        title: 'large',
        status: 'in_progress',
        content: [{ type: 'content', content: { type: 'text', text: 'x'.repeat(Number(value)) } }],
      });
    if (kind === 'pause') await sleep(Number(value));
    if (kind === 'answers') while (answers - before < Number(value)) await sleep(5);
    if (kind === 'note') note(String(value));
    if (kind === 'time') note(`${String(value)} ${performance.timeOrigin + performance.now()}`);
    if (kind === 'exit') process.exit(Number(value));
    if (kind === 'end' || kind === 'error') {
      turns.delete(cancelled);
      write(
        kind === 'end'
          ? { id, result: { stopReason: 'end_turn' } }
          : { id, error: value ?? { code: -32603, message: 'Internal error' } },
      );
    }
  }
}

const say = (text: string, messageId: string): void =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId });

async function ask(): Promise<void> {
  asked += 1;
  const toolCallId = `tool-${asked}`;
  await request('session/request_permission', {
    sessionId,
    toolCall: { toolCallId, title: 'touch made', kind: 'execute', status: 'pending' },
    options: [
      { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
}

function request(method: string, params: object): Promise<Message> {
  const id = `ask-${asked}-${method}`;
  const answered = Promise.withResolvers<Message>();
  waiting.set(id, answered.resolve);
  write({ id, method, params });
  return answered.promise;
}
