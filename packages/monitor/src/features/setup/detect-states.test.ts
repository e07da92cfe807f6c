import { expect, test } from 'vitest';
import { resolveConfig } from '../configure.ts';
import { fittingStates } from './detect.ts';

const usual = resolveConfig([], {}).config?.svc.tracker.stateMap;
if (usual === undefined) throw new Error('the defaults are not a valid configuration');

const team = (...states: [name: string, type: string][]) =>
  states.map(([name, type], position) => ({ id: String(position), name, type, position }));

test('a team with the usual names needs no change', () => {
  const states = team(
    ['Backlog', 'backlog'],
    ['Todo', 'unstarted'],
    ['In Progress', 'started'],
    ['In Review', 'started'],
    ['Done', 'completed'],
    ['Canceled', 'canceled'],
  );
  expect(fittingStates(usual, states)).toEqual({});
});

test('other names are matched by type and position', () => {
  const states = team(
    ['Icebox', 'backlog'],
    ['Ready', 'unstarted'],
    ['Doing', 'started'],
    ['Code review', 'started'],
    ['Testing', 'started'],
    ['Shipped', 'completed'],
    ['Dropped', 'canceled'],
  );
  expect(fittingStates(usual, states)).toEqual({
    backlog: 'Icebox',
    todo: 'Ready',
    research: 'Doing',
    planning: 'Doing',
    inProgress: 'Doing',
    inReview: 'Code review',
    done: 'Shipped',
    canceled: 'Dropped',
  });
});

test('letter case is ignored; null stays; a phase without a matching state stays', () => {
  const states = team(['in progress', 'started'], ['done', 'completed']);
  expect(fittingStates({ ...usual, todo: null }, states)).toEqual({
    research: 'in progress',
    planning: 'in progress',
    inProgress: 'in progress',
    inReview: 'in progress',
    done: 'done',
  });
  expect(fittingStates(usual, [])).toEqual({});
});
