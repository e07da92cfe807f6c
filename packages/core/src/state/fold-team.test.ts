import { sampleAttention, sampleBoard, sampleWorker } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readShared } from '../team/shared.ts';
import { emptyBoard, type FoldedLine, foldLine, packBoard, unpackBoard } from './board.ts';
import { logged } from './testing/lines.ts';
import { sharedThings } from './views/shared-things.ts';
import { presenceOf, teamView } from './views/team-view.ts';

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
    corrupt: { path: '/home/kim/svc/x.json', problem: secret, seq: 1 },
    verification: { state: 'failed', sha: null, summary: secret, advisory: false, remediation: null, seq: 1 },
  });
  const things = sharedThings(
    sampleBoard({
      workers: [worker],
      attention: [
        sampleAttention({ id: '1', reason: 'worker-dead', message: secret, remedy: 'cd /home/kim/web' }),
        sampleAttention({ id: '2', reason: 'deploy-timeout', message: 'No deployment', reportedBy: 'svc' }),
        sampleAttention({ id: '3', reason: 'deploy-odd', message: secret, reportedBy: 'helper' }),
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
    'worker',
    'session',
  ]);
  expect(JSON.stringify(things)).not.toMatch(/written by|\/home/);
  expect(JSON.stringify(things)).toContain('No deployment');
  for (const { kind, value } of things) expect(readShared(kind, value)).toEqual({ kind, value });
  expect(readShared('worker', { ticket: 'ENG-1' })).toBeUndefined();
});

test('a machine that is not heard is silent, and unknown before it was heard', () => {
  expect(presenceOf(undefined, 0)).toEqual({ heardAt: null, presence: 'unknown' });
  expect(presenceOf(1000, 121_000)).toMatchObject({ presence: 'here' });
  expect(presenceOf(1000, 121_001)).toEqual({ heardAt: '1970-01-01T00:00:01.000Z', presence: 'silent' });
});
