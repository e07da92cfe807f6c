// The agent of TID-140: talks the Agent Client Protocol on its standard input and output, as real agents do, and really
// edits the worktree. It asks before it edits and before it runs a command, ends its turn with a question, and takes
// messages. It ends with the demo.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { processExists, readPid } from '@svc/lib/pid';

type Message = {
  id?: number | string;
  method?: string;
  params?: { cwd?: string; value?: string };
  result?: { outcome?: { optionId?: string } };
};

const WORD_MS = 60;
const sessionId = 'demo-session';
const waiting = new Map<number | string, (message: Message) => void>();
let folder = process.cwd();
let mode = 'ask';
let requests = 0;
let turns = 0;
let isCancelled = false;

const write = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (fields: object): void =>
  write({ method: 'session/update', params: { sessionId, update: fields } });

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.method === undefined) waiting.get(message.id ?? '')?.(message);
  else void handle(message);
});

// Its group has only itself and what copies its input.
setInterval(() => {
  const demo = readPid(process.env['DEMO_PID'] ?? '');
  if (demo === undefined || !processExists(demo)) process.kill(0, 'SIGTERM');
}, 1_000);

async function handle({ id, method, params = {} }: Message): Promise<void> {
  switch (method ?? '') {
    case 'initialize':
      return write({
        id,
        result: {
          protocolVersion: 1,
          agentInfo: { name: 'demo-agent', version: '1.0.0' },
          agentCapabilities: { sessionCapabilities: { resume: {} } },
          authMethods: [],
        },
      });
    case 'session/new':
    case 'session/resume':
      folder = params.cwd ?? folder;
      return write({ id, result: { sessionId, configOptions: options() } });
    case 'session/set_config_option':
      mode = params.value ?? mode;
      return write({ id, result: { configOptions: options() } });
    case 'session/cancel':
      isCancelled = true;
      return undefined;
    case 'session/prompt': {
      turns += 1;
      isCancelled = false;
      await (turns === 1 ? editStorage() : addTest());
      reportCost();
      return write({ id, result: { stopReason: isCancelled ? 'cancelled' : 'end_turn' } });
    }
    default:
      if (id !== undefined) write({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
}

const options = () => [
  {
    id: 'mode',
    category: 'mode',
    type: 'select',
    currentValue: mode,
    options: [{ value: 'ask', name: 'Ask before each change' }],
  },
];

async function editStorage(): Promise<void> {
  setStatus('implementing');
  plan('in_progress', 'pending', 'pending');
  await say(
    'The invoice for winter storage counts a boat that leaves on the first of a month for the whole month. I will look at how the months are counted.',
  );
  await read('src/storage.ts');
  plan('completed', 'in_progress', 'pending');
  await say(
    'The loop includes the month in which the boat leaves. The last month should count only if the boat is still there on its second day.',
  );
  const isDone = await edit('src/storage.ts', (text) =>
    text.replace(
      'return monthsBetween(arrives, leaves) + 1;',
      [
        '// A boat that leaves on the first day does not use the month.',
        '  const last = leaves.getUTCDate() > 1 ? 1 : 0;',
        '  return monthsBetween(arrives, leaves) + last;',
      ].join('\n'),
    ),
  );
  plan('completed', isDone ? 'completed' : 'pending', isDone ? 'in_progress' : 'pending');
  if (isDone) {
    await command('node --check src/storage.ts');
    await say(
      'The change is small, and the syntax check passes. Shall I also add a test for a boat that leaves on the first of a month?',
    );
  } else await say('I did not change the file. What should I do instead?');
}

async function addTest(): Promise<void> {
  await say('I add a test for the last day of the month and for the first of the next one.');
  const isDone = await edit('src/storage.test.ts', (text) =>
    text.concat(
      [
        '',
        "test('a boat that leaves on the first of a month does not pay for that month', () => {",
        "  expect(storageMonths(day('2026-10-05'), day('2026-12-01'))).toBe(2);",
        "  expect(storageMonths(day('2026-10-05'), day('2026-12-02'))).toBe(3);",
        '});',
        '',
      ].join('\n'),
    ),
  );
  if (isDone) plan('completed', 'completed', 'completed');
  await say(
    isDone
      ? 'Done. The worktree has both changes; look at them under Changes.'
      : 'I left the tests as they are.',
  );
}

async function say(text: string): Promise<void> {
  const messageId = `message-${turns}-${requests}-${text.length}`;
  for (const word of text.split(/(?<= )/)) {
    if (isCancelled) return;
    update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: word } });
    await sleep(WORD_MS);
  }
}

function plan(...statuses: string[]): void {
  const steps = ['Find how months are counted', 'Fix the last month', 'Cover it with a test'];
  update({
    sessionUpdate: 'plan',
    entries: steps.map((content, index) => ({ content, priority: 'medium', status: statuses[index] })),
  });
}

async function read(path: string): Promise<void> {
  const tool = { toolCallId: `read-${turns}`, title: `Read ${path}`, kind: 'read', locations: [{ path }] };
  update({ sessionUpdate: 'tool_call', ...tool, status: 'in_progress' });
  await sleep(400);
  update({ sessionUpdate: 'tool_call_update', toolCallId: tool.toolCallId, status: 'completed' });
}

/** Whether the viewer allowed it. */
async function edit(path: string, change: (text: string) => string): Promise<boolean> {
  const file = join(folder, path);
  const oldText = readFileSync(file, 'utf8');
  const newText = change(oldText);
  const tool = {
    toolCallId: `edit-${turns}`,
    title: `Edit ${path}`,
    kind: 'edit',
    locations: [{ path }],
    content: [{ type: 'diff', path, oldText, newText }],
  };
  update({ sessionUpdate: 'tool_call', ...tool, status: 'pending' });
  const isAllowed = await isPermitted(tool);
  if (isAllowed) writeFileSync(file, newText);
  const status = isAllowed ? 'completed' : 'failed';
  update({ sessionUpdate: 'tool_call_update', toolCallId: tool.toolCallId, status });
  return isAllowed;
}

async function command(line: string): Promise<void> {
  const tool = { toolCallId: `command-${turns}`, title: line, kind: 'execute', rawInput: { command: line } };
  update({ sessionUpdate: 'tool_call', ...tool, status: 'in_progress' });
  await sleep(800);
  const content = [{ type: 'content', content: { type: 'text', text: 'src/storage.ts: no errors' } }];
  const meta = { _meta: { terminal_exit: { exit_code: 0 } } };
  update({
    sessionUpdate: 'tool_call_update',
    toolCallId: tool.toolCallId,
    status: 'completed',
    content,
    ...meta,
  });
}

async function isPermitted(toolCall: object): Promise<boolean> {
  requests += 1;
  const id = `permission-${requests}`;
  const answered = Promise.withResolvers<Message>();
  waiting.set(id, answered.resolve);
  write({
    id,
    method: 'session/request_permission',
    params: {
      sessionId,
      toolCall,
      options: [
        { optionId: 'yes', name: 'Allow this edit', kind: 'allow_once' },
        { optionId: 'always', name: 'Allow all edits in this session', kind: 'allow_always' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
  });
  const { result } = await answered.promise;
  return result?.outcome?.optionId === 'yes' || result?.outcome?.optionId === 'always';
}

/** The cost of the session so far. */
function reportCost(): void {
  const cost = { amount: Math.round(0.3184 * turns * 10_000) / 10_000, currency: 'USD' };
  update({ sessionUpdate: 'usage_update', used: 18_400 + 5_200 * turns, size: 200_000, cost });
}

function setStatus(status: string): void {
  const file = process.env['SVC_SIGNAL_FILE'];
  if (file === undefined) return;
  const signal = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...signal, status, updatedAt: new Date().toISOString() }, null, 2));
}
