import { until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  applyChanges,
  type BoardChanges,
  createBoardStore,
  emptyLiveBoard,
  type PullFrom,
} from './board-store.ts';

const none = {
  workers: [],
  pullRequests: [],
  deployments: [],
  tickets: [],
  runs: [],
  attention: [],
  feeds: [],
  sessions: [],
  members: [],
  team: [],
};

function changes(seq: number, news: Partial<BoardChanges> = {}): BoardChanges {
  return {
    seq,
    at: `2026-11-09T12:00:${String(seq).padStart(2, '0')}.000Z`,
    instanceId: 'one',
    full: false,
    gone: none,
    ...none,
    leftOut: [],
    ...news,
  };
}

const ticket = (key: string, title: string) =>
  ({ key, ticket: key, title }) as BoardChanges['tickets'][number];

test('changes are applied by key, removed entities go, and the rest stays the same object', () => {
  const first = applyChanges(
    emptyLiveBoard,
    changes(3, { full: true, tickets: [ticket('A-1', 'one'), ticket('A-2', 'two')] }),
  );
  const second = applyChanges(
    first,
    changes(5, { tickets: [ticket('A-2', 'two again')], gone: { ...none, tickets: ['A-1', 'A-9'] } }),
  );
  expect([...second.tickets.values()].map(({ title }) => title)).toEqual(['two again']);
  expect(second.workers).toBe(first.workers);
  expect([...second.changed]).toEqual(['tickets:A-2']);
  expect([...first.tickets.keys()]).toEqual(['A-1', 'A-2']);
});

test('a full response replaces everything and marks nothing as changed', () => {
  const first = applyChanges(emptyLiveBoard, changes(3, { tickets: [ticket('A-1', 'one')] }));
  const second = applyChanges(
    first,
    changes(1, { full: true, instanceId: 'two', tickets: [ticket('B-1', 'other')] }),
  );
  expect([...second.tickets.keys()]).toEqual(['B-1']);
  expect(second).toMatchObject({ seq: 1, instanceId: 'two' });
  expect(second.changed.size).toBe(0);
});

test('a burst of events causes one pull, which starts at the last seq and waits for the newest event', async () => {
  const asked: PullFrom[] = [];
  const answers = [changes(3, { full: true }), changes(9)];
  const store = createBoardStore(async (from) => {
    asked.push(from);
    return answers[asked.length - 1] ?? changes(9);
  });
  onTestFinished(store.close);
  for (const seq of [4, 5, 9]) store.wake(seq);
  await until(() => store.get().seq === 9);
  expect(asked).toEqual([
    { after: 0, instanceId: null, atLeast: null },
    { after: 3, instanceId: 'one', atLeast: 9 },
  ]);
});

test('an event triggers a pull immediately, not at the next timer tick', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let newest = 3;
  const store = createBoardStore(async ({ atLeast }) => changes((newest = atLeast ?? newest)));
  onTestFinished(store.close);
  await until(() => store.get().seq === 3);
  store.wake(4);
  await until(() => store.get().seq === 4);
});

test('a failed pull is reported, and the next successful one clears it', async () => {
  let broken = true;
  const store = createBoardStore(async () => {
    if (broken) throw new Error('no answer');
    return changes(2, { full: true });
  });
  onTestFinished(store.close);
  await until(() => store.failing()?.message === 'no answer');
  broken = false;
  store.wake(2);
  await until(() => store.failing() === null);
  expect(store.get().seq).toBe(2);
});

test('after the log got shorter it does not wait for an event that no longer exists', async () => {
  const asked: PullFrom[] = [];
  const store = createBoardStore(async (from) => {
    asked.push(from);
    return changes(4, { full: true, instanceId: `instance ${asked.length}` });
  });
  onTestFinished(store.close);
  store.wake(100);
  await until(() => asked.length === 2);
  store.wake();
  await until(() => asked.length === 3);
  expect(asked[2]?.atLeast).toBe(4);
});
