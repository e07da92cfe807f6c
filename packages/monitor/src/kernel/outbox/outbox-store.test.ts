import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { effectKinds } from '../../features/effect-kinds.ts';
import { lanes } from './effect.ts';
import { laneOf } from './outbox-rules.ts';
import { createOutboxStore, dueQuery, type OutboxStore, openOutboxDatabase } from './outbox-store.ts';
import { append, move, openStore } from './testing/sample-outbox.ts';

const HOUR = 60 * 60_000;

function newStore(options?: Parameters<typeof openStore>[1]): OutboxStore {
  const store = openStore(join(temporaryFolder(), 'svc.db'), options);
  onTestFinished(() => store.close());
  return store;
}

const keys = (rows: readonly { key: string }[]): string[] => rows.map(({ key }) => key);

describe('opening', () => {
  test('a fresh outbox starts at the end of the log, and is resumed afterwards', () => {
    const path = join(temporaryFolder(), 'svc.db');
    const fresh = openStore(path, { lastSeq: 40 });
    expect([fresh.started, fresh.cursor()]).toEqual(['fresh', 40]);
    fresh.accept([move(41)], 41);
    fresh.close();
    const resumed = openStore(path, { lastSeq: 50 });
    expect([resumed.started, resumed.cursor(), resumed.counts().pending]).toEqual(['resumed', 41, 1]);
    resumed.close();
  });

  test('rows of lines that the log no longer has are removed, so their numbers can be used again', () => {
    const path = join(temporaryFolder(), 'svc.db');
    const before = openStore(path);
    before.accept([move(3), move(8)], 9);
    before.finish(move(8).key, 'moved');
    before.close();
    const after = openStore(path, { lastSeq: 5 });
    expect([after.started, after.dropped, after.cursor()]).toEqual(['fresh', 1, 5]);
    expect(after.accept([move(8)], 8)).toBe(1);
    expect(keys(after.list())).toEqual([move(8).key, move(3).key]);
    after.close();
  });

  test('every transaction is synced', () => {
    const database = openOutboxDatabase(join(temporaryFolder(), 'svc.db'));
    onTestFinished(() => database.close());
    const level = () => database.prepare('PRAGMA synchronous').get()?.['synchronous'];
    expect(level()).toBe(2);
    const store = createOutboxStore({ kinds: effectKinds, database, lastSeq: 0, clock: { now: () => 1 } });
    store.accept([], 3);
    expect([level(), store.cursor()]).toEqual([2, 3]);
  });
});

describe('accepting', () => {
  test('leaves known keys alone and never moves the cursor back', () => {
    const store = newStore();
    expect(store.accept([move(1), append(1)], 1)).toBe(2);
    store.finish(move(1).key, 'moved');
    expect(store.accept([move(1), append(1), move(2)], 2)).toBe(1);
    expect(store.find(move(1).key)).toMatchObject({ state: 'done', outcome: 'moved', attempts: 1 });
    store.accept([], 1);
    expect(store.cursor()).toBe(2);
  });

  test('is all or nothing', () => {
    const store = newStore();
    store.accept([move(1)], 1);
    const circle: Record<string, unknown> = {};
    circle['itself'] = circle;
    const impossible = { ...append(2), draft: { ...circle } } as unknown as ReturnType<typeof append>;
    expect(() => store.accept([move(2), impossible], 2)).toThrow(/circular/);
    expect([store.cursor(), store.counts().pending]).toEqual([1, 1]);
  });
});

describe('what is due', () => {
  test('comes in order, and only the first pending one of each order key', () => {
    const store = newStore();
    store.accept([move(1, 'A'), move(1, 'C'), move(2, 'A'), move(2, 'B'), move(3, 'D')], 3);
    const due = (limit: number) => keys(store.due('tracker', 1_000, limit));
    expect(due(10)).toEqual(keys([move(1, 'A'), move(1, 'C'), move(2, 'B'), move(3, 'D')]));
    expect(due(2)).toEqual(keys([move(1, 'A'), move(1, 'C')]));
    store.retry(move(1, 'A').key, 'busy', 5_000);
    expect(due(10)).toEqual(keys([move(1, 'C'), move(2, 'B'), move(3, 'D')]));
    expect(store.nextDueAfter(1_000)).toBe(5_000);
    store.giveUp(move(1, 'A').key, 'no');
    expect(due(10)).toContain(move(2, 'A').key);
    expect(store.nextDueAfter(1_000)).toBeNull();
  });

  test('each row is due in the lane of its kind, and one of an unknown kind in the local lane', () => {
    const database = openOutboxDatabase(join(temporaryFolder(), 'svc.db'));
    const store = createOutboxStore({
      kinds: effectKinds,
      database,
      lastSeq: 0,
      clock: { now: () => 1_000 },
    });
    onTestFinished(() => store.close());
    const kinds = [...Object.keys(effectKinds), 'of-a-later-version'];
    store.accept(
      kinds.map((_, index) => move(index, `T-${index}`)),
      kinds.length,
    );
    for (const [seq, kind] of kinds.entries())
      database.prepare('UPDATE outbox_effect SET kind = ? WHERE seq = ?').run(kind, seq);
    const dueIn = Object.fromEntries(
      lanes.map((lane) => [lane, store.due(lane, 1_000, 100).map(({ kind }) => kind)]),
    );
    expect(dueIn).toEqual(
      Object.fromEntries(
        lanes.map((lane) => [lane, kinds.filter((kind) => laneOf(effectKinds, kind) === lane)]),
      ),
    );
  });

  test('is found by an index, so thousands of rows in another lane cost nothing', () => {
    const database = openOutboxDatabase(join(temporaryFolder(), 'svc.db'));
    onTestFinished(() => database.close());
    // Also after a version that had other kinds.
    for (const kinds of [{ ...effectKinds, append: { lane: 'programs' } } as const, effectKinds]) {
      createOutboxStore({ database, kinds, lastSeq: 0, clock: { now: () => 1_000 } });
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${dueQuery(kinds)}`).all('local', 1, 1, 4);
      expect(plan.map(({ detail }) => detail)[0]).toContain('outbox_lane');
      expect(JSON.stringify(plan)).not.toContain('TEMP B-TREE');
    }
  });

  test('includes what a clock that was set back would postpone forever', () => {
    const store = newStore();
    store.accept([move(1)], 1);
    store.retry(move(1).key, 'busy', 1_000 + 900 * HOUR);
    expect(keys(store.due('tracker', 1_000, 10))).toEqual([move(1).key]);
    store.retry(move(1).key, 'busy', 1_000 + HOUR);
    expect(store.due('tracker', 1_000, 10)).toEqual([]);
  });

  test('a row that cannot be read is returned without its effect', () => {
    const database = openOutboxDatabase(join(temporaryFolder(), 'svc.db'));
    const store = createOutboxStore({
      kinds: effectKinds,
      database,
      lastSeq: 0,
      clock: { now: () => 1_000 },
    });
    onTestFinished(() => store.close());
    store.accept([move(1), move(2, 'B'), move(3, 'C')], 3);
    database.prepare('UPDATE outbox_effect SET payload = ? WHERE seq = 1').run('{"ki');
    database.prepare('UPDATE outbox_effect SET payload = ? WHERE seq = 2').run('null');
    expect(store.due('tracker', 1_000, 10).map(({ effect }) => effect)).toEqual([null, null, move(3, 'C')]);
  });
});

describe('the end of a row', () => {
  test('is final', () => {
    const store = newStore();
    store.accept([move(1), move(2, 'B')], 2);
    store.finish(move(1).key, 'moved');
    store.giveUp(move(1).key, 'late');
    store.giveUp(move(2, 'B').key, 'no such ticket');
    store.finish(move(2, 'B').key, 'late');
    store.retry(move(2, 'B').key, 'late', 5);
    expect(store.find(move(1).key)).toMatchObject({ state: 'done', outcome: 'moved', lastError: null });
    expect(store.find(move(2, 'B').key)).toMatchObject({ state: 'given-up', lastError: 'no such ticket' });
    expect(store.find('9:none')).toBeNull();
  });

  test('a row that was given up is unsent until its attention is in the log', () => {
    const store = newStore();
    store.accept([move(1)], 1);
    store.giveUp(move(1).key, 'x'.repeat(9_000));
    expect(keys(store.unsent(10))).toEqual([move(1).key]);
    expect(store.unsent(10)[0]?.lastError?.length).toBeLessThan(600);
    expect(store.counts()).toMatchObject({ pending: 0, givenUp: 1, unsent: 1, oldestPendingAt: null });
    store.sent(move(1).key);
    expect([store.unsent(10), store.counts().unsent]).toEqual([[], 0]);
  });

  test('what is done is removed after a while, and nothing else', () => {
    const clock = { time: 100, now: () => clock.time };
    const store = newStore({ clock });
    store.accept([move(1), move(2, 'B'), move(3, 'C'), move(4, 'D')], 4);
    store.finish(move(1).key, 'moved');
    store.giveUp(move(2, 'B').key, 'no');
    clock.time = 200;
    store.finish(move(3, 'C').key, 'moved');
    expect(store.prune(200)).toBe(1);
    expect(keys(store.list())).toEqual(keys([move(4, 'D'), move(3, 'C'), move(2, 'B')]));
    expect(keys(store.list({ state: 'done' }))).toEqual([move(3, 'C').key]);
    expect(keys(store.list({ limit: 1 }))).toEqual([move(4, 'D').key]);
  });
});

type Step =
  | { do: 'accept'; lines: number; tickets: number[] }
  | { do: 'work'; how: 'finish' | 'retry' | 'giveUp' }
  | { do: 'reopen' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('accept' as const),
    lines: fc.integer({ min: 1, max: 3 }),
    tickets: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }),
  }),
  fc.record({ do: fc.constant('work' as const), how: fc.constantFrom('finish', 'retry', 'giveUp') }),
  fc.record({ do: fc.constant('reopen' as const) }),
);

test('whatever happens, each effect has one row, and those of a ticket end in order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const path = join(temporaryFolder(), 'svc.db');
      let store = openStore(path);
      let seq = 0;
      const accepted: ReturnType<typeof move>[] = [];
      const ended: string[] = [];
      for (const each of steps) {
        if (each.do === 'accept') {
          const from = seq;
          seq += each.lines;
          const effects = each.tickets.map((ticket, index) =>
            move(from + 1 + (index % each.lines), `T-${ticket}`),
          );
          const added = effects.filter(({ key }, index) => keys(effects).indexOf(key) === index);
          expect(store.accept(effects, seq)).toBe(added.length);
          expect(store.accept(effects, from)).toBe(0);
          accepted.push(...added);
        } else if (each.do === 'work') {
          const [row] = store.due('tracker', 1_000, 1);
          if (row === undefined) continue;
          if (each.how === 'retry') store.retry(row.key, 'busy', 1_000);
          else {
            store[each.how](row.key, 'so');
            ended.push(row.key);
          }
        } else {
          store.close();
          store = openStore(path, { lastSeq: seq });
          expect(store.started).toBe('resumed');
        }
        expect(store.cursor()).toBe(seq);
      }
      const pending = keys(store.list({ state: 'pending', limit: 1_000 }));
      expect([...ended, ...pending].toSorted()).toEqual(keys(accepted).toSorted());
      for (const name of ['T-0', 'T-1', 'T-2']) {
        const inOrder = keys(
          accepted.filter(({ ticket }) => ticket === name).toSorted((a, b) => a.seq - b.seq),
        );
        const endedOfTicket = ended.filter((key) => key.endsWith(name));
        expect(endedOfTicket).toEqual(inOrder.slice(0, endedOfTicket.length));
      }
      store.close();
    }),
    { numRuns: 40 },
  );
});
