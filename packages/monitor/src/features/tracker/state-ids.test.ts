import { expect, test } from 'vitest';
import { Config } from '../config.ts';
import { stateIdsOf, unknownStates } from './ticket-phase.ts';

const state = (name: string, position: number, id = `id-${name}`) => ({
  id,
  name,
  type: 'started',
  position,
});

test('ids by name, in the order of the workflow; the first of two with one name counts', () => {
  const ids = stateIdsOf([state('Done', 3), state('Todo', 1), state('Done', 2, 'earlier')]);
  expect(Object.entries(ids)).toEqual([
    ['Todo', 'id-Todo'],
    ['Done', 'earlier'],
  ]);
});

test('phases whose state does not exist are listed; null is not a state', () => {
  const { stateMap } = Config.parse({ svc: { tracker: { stateMap: { done: 'Shipped', research: null } } } })
    .svc.tracker;
  const names = ['Backlog', 'Todo', 'In Progress', 'In Review', 'Canceled'];
  expect(unknownStates(stateMap, names)).toEqual([{ phase: 'done', name: 'Shipped' }]);
});
