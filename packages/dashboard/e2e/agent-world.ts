// A ticket whose agent is scripted: a server in front of the tape's daemon that answers the routes of one agent itself and
// passes everything else on. Also the conversations that tests, screenshots and the bench show.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sampleAttention } from '@svc/testkit';
import type { AgentOptions, AgentView, WorktreeChanges } from 'svc-monitor/src/features/agents/api.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import type { AgentRequest, WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type NewItem = DistributiveOmit<ConversationItem, 'rev'>;
export type Failing = { status: number; error: string; code: string; remedy: string };

export type AgentWorld = {
  url: string;
  /** The bodies of requests, by the last part of their path. */
  posts: { path: string; body: Record<string, unknown> }[];
  /** How often the changes were asked for. */
  asked: () => number;
  /** Adds or changes items, and what is known of the agent, and the page is notified. */
  push: (items: readonly NewItem[], agent?: Partial<WorkerAgent>) => void;
  queue: (waiting: string[]) => void;
  change: (changes: WorktreeChanges) => void;
  /** Changes what the agent offers, and what it has confirmed. */
  offer: (options: Partial<AgentOptions>) => void;
  /** The next requests that act are refused; null: accepted again. */
  refuse: (failing: Failing | null) => void;
  /** As after a restart of the daemon: another instance, which has only these items. */
  restart: (items: readonly NewItem[]) => void;
  close: () => Promise<void>;
};

export async function startAgentWorld(options: {
  daemonPort: number;
  ticket: string;
  orchestrator: string;
  agent: WorkerAgent;
  /** Other workers of the same run whose agents wait, in the order in which they began to. */
  others?: readonly { ticket: string; agent: WorkerAgent }[];
  items?: readonly NewItem[];
  changes?: WorktreeChanges | undefined;
}): Promise<AgentWorld> {
  const { ticket, orchestrator, others = [] } = options;
  let { agent } = options;
  let items = new Map<string, ConversationItem>();
  let changes = options.changes ?? noChanges(options);
  let offered: AgentOptions = { ticket, orchestrator, ...noOptions };
  let waiting: string[] = [];
  let refusal: Failing | null = null;
  let instance = 1;
  let rev = 0;
  let asked = 0;
  const posts: AgentWorld['posts'] = [];
  const streams = new Set<{ response: ServerResponse; after: number }>();

  const put = (news: readonly NewItem[]): void => {
    for (const item of news) {
      rev += 1;
      items.set(item.id, { ...item, rev });
    }
  };
  put(options.items ?? []);

  const viewAfter = (after: number): AgentView => ({
    ticket,
    orchestrator,
    agent,
    cost: null,
    waiting,
    attempt: agent.attempt,
    instanceId: `instance-${instance}`,
    rev,
    dropped: 0,
    items: [...items.values()].filter((item) => item.rev > after),
    journal: '/data/runs/run-1/agents/journal.jsonl',
  });
  /** Each earlier attempt has one message. */
  const viewOf = (attempt: number): AgentView => {
    const said = { kind: 'message', text: `Said in attempt ${attempt}`, cut: false } as const;
    const only = { id: 'message:1', rev: 1, ...said };
    return { ...viewAfter(0), attempt, instanceId: `attempt-${attempt}`, items: [only] };
  };
  const tell = (): void => {
    for (const stream of streams) {
      stream.response.write(`data: ${JSON.stringify(viewAfter(stream.after))}\n\n`);
      stream.after = rev;
    }
  };
  const answer = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  };

  function openStream(url: URL, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const isSame = url.searchParams.get('instanceId') === `instance-${instance}`;
    const one = { response, after: isSame ? Number(url.searchParams.get('after') ?? 0) : 0 };
    response.write(`data: ${JSON.stringify(viewAfter(one.after))}\n\n`);
    one.after = rev;
    streams.add(one);
    response.on('close', () => streams.delete(one));
  }

  async function act(path: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(incoming)) as Record<string, unknown>;
    posts.push({ path, body });
    if (refusal !== null) return answer(response, refusal.status, refusal);
    answer(response, 200, {
      ok: true,
      answered: 'Allow',
      queued: 'The agent gets it when it is idle.',
      confirmed: true,
      mode: offered.mode,
      model: offered.model,
    });
  }

  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const own = `/api/workers/${ticket}/`;
    const isOther = others.some((one) => url.pathname === `/api/workers/${one.ticket}/agent/answer`);
    if (isOther) return void act(`answer ${url.pathname.split('/')[3]}`, incoming, response);
    const path = url.pathname.startsWith(own) ? url.pathname.slice(own.length) : '';
    if (path === 'agent/stream') return openStream(url, response);
    const attempt = Number(url.searchParams.get('attempt') ?? agent.attempt);
    if (path === 'agent' && attempt !== agent.attempt) return answer(response, 200, viewOf(attempt));
    if (path === 'agent') return answer(response, 200, viewAfter(0));
    if (path === 'changes') {
      asked += 1;
      return answer(response, 200, changes);
    }
    if (path === 'files') {
      const wanted = (url.searchParams.get('query') ?? '').toLowerCase();
      const found = filesOf(changes).filter((name) => name.toLowerCase().includes(wanted));
      return answer(response, 200, { ticket, orchestrator, files: found, cut: false });
    }
    if (path === 'agent/options' && incoming.method === 'GET') return answer(response, 200, offered);
    if (path.startsWith('agent/')) return void act(path.slice(6), incoming, response);
    passOn(incoming, response, url);
  });

  /** As svc raises it for what the agent waits for. */
  const itemOf = (
    raised: string,
    of: { ticket: string; agent: WorkerAgent },
    openedSeq: number,
  ): AttentionItem & { key: string } => ({
    ...sampleAttention({ ticket: of.ticket, orchestrator, reason: raised }),
    openedSeq,
    key: `${orchestrator}/${of.ticket}/${raised}`,
    message: `The agent waits: ${of.agent.open[0]?.title ?? of.agent.message}`,
    remedy: `svc agent answer ${of.ticket}`,
  });

  /** The board gets the agent, and what needs a person because of it. */
  function passOn(incoming: IncomingMessage, response: ServerResponse, url: URL): void {
    const headers = { ...incoming.headers };
    const reason = reasonOf(agent);
    const isBoard = url.pathname === '/api/board/changes' || url.pathname === '/api/board';
    if (isBoard) delete headers['accept-encoding'];
    const { method, url: path } = incoming;
    const passed = request({ port: options.daemonPort, host: '127.0.0.1', method, path, headers }, (from) => {
      const { 'content-length': _, ...kept } = from.headers;
      if (!isBoard || from.statusCode !== 200) {
        response.writeHead(from.statusCode ?? 502, from.headers);
        from.pipe(response);
        return;
      }
      void text(from).then((body) => {
        const board = JSON.parse(body) as {
          workers: { ticket: string; agent: WorkerAgent | null; needs: string[] }[];
          attention: AttentionItem[];
          gone?: { attention: string[] };
        };
        const scripted = [{ ticket, agent }, ...others];
        for (const worker of board.workers) {
          const known = scripted.find((one) => one.ticket === worker.ticket);
          if (known === undefined) continue;
          worker.agent = known.agent;
          const need = reasonOf(known.agent);
          if (need !== null) worker.needs = [need];
        }
        for (const [index, known] of scripted.entries()) {
          const need = reasonOf(known.agent);
          if (need !== null) board.attention.push(itemOf(need, known, 1_000_000 + index));
        }
        if (reason === null) board.gone?.attention.push(`${orchestrator}/${ticket}/agent-needs-permission`);
        response.writeHead(200, kept);
        return response.end(JSON.stringify(board));
      });
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    incoming.pipe(passed);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    asked: () => asked,
    push(news, known = {}) {
      put(news);
      agent = { ...agent, ...known };
      tell();
    },
    queue(messages) {
      waiting = messages;
      tell();
    },
    change(next) {
      changes = next;
    },
    offer(more) {
      offered = { ...offered, ...more };
    },
    refuse(failing) {
      refusal = failing;
    },
    restart(news) {
      instance += 1;
      rev = 0;
      items = new Map();
      put(news);
      for (const one of streams) one.after = 0;
      tell();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function reasonOf({ state }: WorkerAgent): string | null {
  if (state === 'needs-permission') return 'agent-needs-permission';
  if (state === 'needs-input') return 'agent-needs-input';
  return state === 'idle' ? 'agent-stopped' : null;
}

export function agentOf(known: Partial<WorkerAgent> = {}): WorkerAgent {
  return {
    attempt: 1,
    sessionId: 'session-1',
    message: null,
    name: 'claude',
    version: '0.18.0',
    protocol: true,
    reason: null,
    state: 'running',
    since: new Date(Date.now() - 95_000).toISOString(),
    doing: 'Edit src/berths/extend-stay.ts',
    mode: 'default',
    model: 'sonnet',
    context: { used: 48_210, size: 200_000 },
    tokens: { input: 118_400, output: 9_340 },
    cost: { amount: 0.84, currency: 'USD' },
    costOf: 'process',
    open: [],
    limit: null,
    stopped: null,
    problem: null,
    ...known,
  };
}

export function toolOf(id: string, known: Partial<Extract<NewItem, { kind: 'tool' }>> = {}): NewItem {
  return {
    id: `tool:${id}`,
    kind: 'tool',
    title: `Tool ${id}`,
    toolKind: 'other',
    status: 'completed',
    paths: [],
    command: null,
    output: '',
    exitCode: null,
    diffs: [],
    cut: false,
    ...known,
  };
}

export const permission: AgentRequest = {
  request: '7',
  kind: 'permission',
  title: 'Run the migration against the local database',
  tool: 'migrate',
  toolKind: 'execute',
  paths: ['db/migrations/0042_extend_stay.sql'],
  command: 'npm run db:migrate -- --only 0042_extend_stay',
  options: [
    { kind: 'allow_always', name: 'Always allow npm run' },
    { kind: 'reject_once', name: 'No, tell Claude what to do differently' },
    { kind: 'allow_once', name: 'Yes' },
  ],
  fields: [],
};

export const question: AgentRequest = {
  request: '"q-1"',
  kind: 'input',
  title: 'A stay that ends after the season: extend it, or ask the harbour office?',
  tool: null,
  toolKind: null,
  paths: [],
  command: null,
  options: [],
  fields: [
    { name: 'rule', title: 'Rule', type: 'choice', choices: ['extend', 'ask the office'], required: true },
    {
      name: 'days',
      title: 'Most days that a stay can be extended by',
      type: 'number',
      choices: [],
      required: true,
    },
    { name: 'note', title: 'Note for the skipper', type: 'text', choices: [], required: false },
    { name: 'mail', title: 'Also send a mail', type: 'flag', choices: [], required: false },
  ],
};

const before = `import { berthOf } from './berths.ts';
import type { Stay } from './stay.ts';

/** Until when a stay lasts. */
export function endOf(stay: Stay): Date {
  return stay.until;
}

export function isOver(stay: Stay, now: Date): boolean {
  return stay.until < now;
}
`;
const after = `import { berthOf, isFree } from './berths.ts';
import type { Stay } from './stay.ts';

/** Until when a stay lasts. */
export function endOf(stay: Stay): Date {
  return stay.extended ?? stay.until;
}

/** Extends a stay if its berth is free until then. */
export function extend(stay: Stay, until: Date): Stay | 'taken' {
  if (!isFree(berthOf(stay), endOf(stay), until)) return 'taken';
  return { ...stay, extended: until };
}

export function isOver(stay: Stay, now: Date): boolean {
  return endOf(stay) < now;
}
`;

/** As people see it on a working day. */
export const conversation: readonly NewItem[] = [
  {
    id: 'p1',
    kind: 'prompt',
    by: 'svc',
    text: '/svc-dev:oneshot TID-121\n\nLet a skipper extend a stay from the phone. The harbour office must not have to do anything unless the berth is taken.',
  },
  {
    id: 'plan',
    kind: 'plan',
    entries: [
      { content: 'Read how stays and berths are stored', status: 'completed' },
      { content: 'Add the end of an extended stay', status: 'completed' },
      { content: 'Refuse an extension when the berth is taken', status: 'in_progress' },
      { content: 'Show the button on the phone', status: 'pending' },
      { content: 'Tests and a changelog entry', status: 'pending' },
    ],
  },
  {
    id: 'thought:1',
    kind: 'thought',
    cut: false,
    text: 'The stay has only an end date. If I change it, the invoice that was already sent changes too. A second date keeps the original.',
  },
  {
    id: 'message:1',
    kind: 'message',
    cut: false,
    text: 'I will read how stays are stored first, then add a second date so that the original end stays on the invoice.',
  },
  toolOf('read', {
    title: 'Read src/berths/extend-stay.ts',
    toolKind: 'read',
    paths: ['src/berths/extend-stay.ts'],
    output: before,
  }),
  toolOf('search', {
    title: 'Search for `until` in src',
    toolKind: 'search',
    output: 'src/berths/stay.ts:4\nsrc/invoices/draft.ts:31\n',
  }),
  {
    id: 'message:2',
    kind: 'message',
    cut: false,
    text: 'Two places read `until`: the stay itself and the **draft of an invoice**. Only the first may see the extension:\n\n```ts\nexport function endOf(stay: Stay): Date {\n  return stay.extended ?? stay.until;\n}\n```\n\nThe invoice keeps `stay.until`. I change the file now.',
  },
  toolOf('edit', {
    title: 'Edit src/berths/extend-stay.ts',
    toolKind: 'edit',
    paths: ['src/berths/extend-stay.ts'],
    diffs: [{ path: 'src/berths/extend-stay.ts', before, after }],
  }),
  toolOf('test', {
    title: 'npm test -- berths',
    toolKind: 'execute',
    status: 'failed',
    command: 'npm test -- berths',
    exitCode: 1,
    output:
      'RUN  v5.1.0 /work/tideline\n\n × extends a stay until the berth is taken\n   expected "taken", received { extended: 2026-07-14 }\n\n Tests  1 failed | 11 passed (12)\n',
  }),
  {
    id: 'message:3',
    kind: 'message',
    cut: false,
    text: 'One test fails: `isFree` compares the day only, so a berth that is taken from noon counts as free. The column needs a time, which is a migration.',
  },
  toolOf('migrate', {
    title: 'Run the migration against the local database',
    toolKind: 'execute',
    status: 'pending',
    command: permission.command,
    paths: [...permission.paths],
    diffs: [
      {
        path: 'db/migrations/0042_extend_stay.sql',
        before: '',
        after:
          'alter table stays add column extended timestamptz;\nalter table berths alter column taken_from type timestamptz;\n',
      },
    ],
  }),
  { id: 'r7', kind: 'request', request: permission, answer: null, by: null },
];

const filesOf = ({ files }: WorktreeChanges): string[] => files.map(({ path }) => path);

const noOptions = { mode: 'default', modes: [], model: 'sonnet', images: false, models: [], commands: [] };

function noChanges({ ticket, orchestrator }: { ticket: string; orchestrator: string }): WorktreeChanges {
  return {
    ticket,
    orchestrator,
    worktree: '/home/kim/svc/wt/tideline/TID 121#1',
    base: 'main',
    baseSha: 'a'.repeat(40),
    files: [],
    cut: false,
  };
}

export function changesOf(
  of: { ticket: string; orchestrator: string },
  files: readonly (Partial<WorktreeChanges['files'][number]> & { path: string })[],
): WorktreeChanges {
  return {
    ...noChanges(of),
    files: files.map((file) => ({
      from: null,
      status: 'modified',
      added: 1,
      removed: 1,
      diff: '',
      cut: false,
      ...file,
    })),
  };
}

/** A diff with this many lines in hunks of 20. */
export function longDiff(path: string, lines: number): string {
  const rows = [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`];
  for (let at = 0; at < lines; at += 20) {
    rows.push(`@@ -${at + 1},14 +${at + 1},16 @@ export function part${at}(): void {`);
    for (let line = 0; line < 20; line += 1) {
      const sign = line % 5 === 2 ? '-' : line % 5 === 3 || line % 10 === 4 ? '+' : ' ';
      rows.push(
        `${sign}  const value${at + line} = compute(${at}, '${'x'.repeat((line * 7) % 50)}'); // line ${at + line}`,
      );
    }
  }
  return `${rows.join('\n')}\n`;
}

export const sampleFiles: Parameters<typeof changesOf>[1] = [
  {
    path: 'CHANGELOG.md',
    added: 1,
    removed: 0,
    diff: 'diff --git a/CHANGELOG.md b/CHANGELOG.md\nindex 1..2 100644\n--- a/CHANGELOG.md\n+++ b/CHANGELOG.md\n@@ -3,4 +3,5 @@\n ## Next\n \n+- A skipper can extend a stay from the phone.\n - Prices per season are stored.\n - The harbour map shows depths.\n',
  },
  {
    path: 'db/migrations/0042_extend_stay.sql',
    status: 'untracked',
    added: 2,
    removed: 0,
    diff: 'diff --git a/db/migrations/0042_extend_stay.sql b/db/migrations/0042_extend_stay.sql\nnew file mode 100644\n--- /dev/null\n+++ b/db/migrations/0042_extend_stay.sql\n@@ -0,0 +1,2 @@\n+alter table stays add column extended timestamptz;\n+alter table berths alter column taken_from type timestamptz;\n',
  },
  { path: 'public/icons/extend.png', status: 'added', added: null, removed: null },
  {
    path: 'src/berths/extend-stay.ts',
    from: 'src/berths/stay-end.ts',
    status: 'renamed',
    added: 9,
    removed: 3,
    diff: "diff --git a/src/berths/stay-end.ts b/src/berths/extend-stay.ts\nsimilarity index 60%\nrename from src/berths/stay-end.ts\nrename to src/berths/extend-stay.ts\n--- a/src/berths/stay-end.ts\n+++ b/src/berths/extend-stay.ts\n@@ -1,11 +1,17 @@\n-import { berthOf } from './berths.ts';\n+import { berthOf, isFree } from './berths.ts';\n import type { Stay } from './stay.ts';\n \n /** Until when a stay lasts. */\n export function endOf(stay: Stay): Date {\n-  return stay.until;\n+  return stay.extended ?? stay.until;\n+}\n+\n+/** Extends a stay if its berth is free until then. */\n+export function extend(stay: Stay, until: Date): Stay | 'taken' {\n+  if (!isFree(berthOf(stay), endOf(stay), until)) return 'taken';\n+  return { ...stay, extended: until };\n }\n \n export function isOver(stay: Stay, now: Date): boolean {\n-  return stay.until < now;\n+  return endOf(stay) < now;\n }\n",
  },
  { path: 'src/berths/generated/tides.json', added: 18_204, removed: 18_001, cut: true },
  {
    path: 'test/berths/extend-stay.test.ts',
    added: 3,
    removed: 1,
    diff: "diff --git a/test/berths/extend-stay.test.ts b/test/berths/extend-stay.test.ts\n--- a/test/berths/extend-stay.test.ts\n+++ b/test/berths/extend-stay.test.ts\n@@ -8,5 +8,7 @@ describe('a stay', () => {\n   it('ends', () => {\n-    expect(endOf(stay)).toEqual(june);\n+    expect(endOf(stay)).toEqual(june);\n+    // A berth that is taken from noon is not free in the morning of that day.\n+    expect(extend(stay, july)).toBe('taken');\n   });\n });\n",
  },
];
