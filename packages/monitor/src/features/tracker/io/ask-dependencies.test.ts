import { testTracker } from '@svc/testkit';
import { expect, test } from 'vitest';
import { readPlan } from '../../runs/plan.ts';
import { clientOf, TOKEN } from '../testing/client-of.ts';
import { askDependencies } from './ask-dependencies.ts';

async function trackerWith(count: number) {
  const tracker = await testTracker(TOKEN);
  const { id: teamId } = tracker.cloud.addTeam({ key: 'ABC' });
  for (let number = 1; number <= count; number += 1)
    tracker.cloud.addIssue({ teamId, title: `No. ${number}` });
  return { tracker, client: clientOf(tracker), cloud: tracker.cloud, teamId };
}

test('relations become waves, and blockers outside the run are reported', async () => {
  const { client, cloud, teamId } = await trackerWith(6);
  cloud.relate('ABC-1', 'ABC-2');
  cloud.relate('ABC-2', 'ABC-3');
  cloud.relate('ABC-5', 'ABC-3');
  cloud.relate('ABC-6', 'ABC-3');
  cloud.relate('ABC-3', 'ABC-1', 'related');
  const done = cloud.statesOf(teamId).find(({ type }) => type === 'completed');
  cloud.changeIssue('ABC-6', { stateId: done?.id ?? '' });
  const { tickets, outside } = await askDependencies(client, ['ABC-3', 'ABC-2', 'ABC-1', 'ABC-4']);
  expect(outside).toEqual([{ ticket: 'ABC-3', blocker: 'ABC-5', state: 'Backlog' }]);
  expect(readPlan({ file: { tickets } })).toEqual({
    ok: true,
    plan: {
      waves: [['ABC-1', 'ABC-4'], ['ABC-2'], ['ABC-3']],
      blockedBy: { 'ABC-2': ['ABC-1'], 'ABC-3': ['ABC-2'] },
    },
  });
  expect(client.calls()).toBe(1);
});

test('a cycle is an error that names its tickets', async () => {
  const { client, cloud } = await trackerWith(3);
  cloud.relate('ABC-1', 'ABC-2');
  cloud.relate('ABC-2', 'ABC-1');
  const { tickets } = await askDependencies(client, ['ABC-1', 'ABC-2', 'ABC-3']);
  expect(readPlan({ file: { tickets } })).toMatchObject({
    ok: false,
    problems: [{ problem: 'the tickets block each other in a cycle: ABC-1 → ABC-2 → ABC-1' }],
  });
});

test('many tickets and many relations are fetched in parts', async () => {
  const { client, cloud } = await trackerWith(120);
  for (let number = 2; number <= 100; number += 1) cloud.relate(`ABC-${number}`, 'ABC-1');
  const names = Array.from({ length: 120 }, (_, index) => `ABC-${index + 1}`);
  const { tickets } = await askDependencies(client, names);
  expect(tickets[0]?.blockedBy).toHaveLength(99);
  expect(tickets.slice(1).every(({ blockedBy }) => blockedBy.length === 0)).toBe(true);
  expect(client.calls()).toBe(4);
});

test('tickets that the tracker does not know, or cannot have', async () => {
  const { client } = await trackerWith(1);
  await expect(askDependencies(client, ['ABC-1', 'ABC-7', 'XYZ-1'])).rejects.toMatchObject({
    code: 'unknown-ticket',
    message: expect.stringContaining('has no ABC-7, XYZ-1'),
  });
  await expect(askDependencies(client, ['fix.things'])).rejects.toMatchObject({ code: 'usage' });
});
