import { expect, test } from 'vitest';
import { pickWorker } from './ticket-screen.tsx';

type Worker = NonNullable<ReturnType<typeof pickWorker>['worker']>;
const worker = (orchestrator: string, ticket: string, lastSeq: number) =>
  ({ orchestrator, ticket, lastSeq }) as Worker;
const all = [worker('run-1', 'ABC-1', 5), worker('run-2', 'ABC-1', 9), worker('run-2', 'ABC-2', 12)];

test('the worker with the latest event, unless the URL names a run', () => {
  expect(pickWorker(all, 'abc-1', undefined).worker?.orchestrator).toBe('run-2');
  expect(pickWorker(all, 'ABC-1', 'run-1').worker?.orchestrator).toBe('run-1');
  expect(pickWorker(all, 'ABC-1', 'run-3').worker).toBeNull();
});

test('every run of the ticket is a choice', () => {
  const { choices } = pickWorker(all, 'ABC-1', 'run-1');
  expect(choices.map(({ orchestrator }) => orchestrator)).toEqual(['run-2', 'run-1']);
  expect(pickWorker(all, 'ABC-9', undefined)).toEqual({ worker: null, choices: [] });
});
