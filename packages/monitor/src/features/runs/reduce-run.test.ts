import { expect, test } from 'vitest';
import { logged, reduced } from '../../kernel/board/testing/lines.ts';
import { reduceRun } from './fold-run.ts';
import type { Run } from './run.ts';

const plan = {
  plan: [['ABC-1']],
  maxParallel: 1,
  project: '/src/web',
  base: 'main',
  workerCommand: '/a:b',
  workerModel: 'opus',
};

/** The run after these lines. */
function after(actions: readonly string[], detail: object): Run | undefined {
  let run: Run | undefined;
  actions.forEach((action, index) => {
    const line = logged(index + 1, `orchestrator.run.${action}`, {
      scope: { orchestrator: 'run-1' },
      detail: index === 0 ? { ...detail } : {},
    });
    run = reduced(reduceRun, [line], run);
  });
  return run;
}

test.each(['completed', 'canceled'])('a run of ours that is %s does not start again', (end) => {
  for (const action of ['started', 'resumed', 'paused', 'canceled'])
    expect(after(['started', end, action], plan)).toMatchObject({ state: end, lastSeq: 2 });
});

test('a running run can be paused and resumed', () => {
  expect(after(['started', 'paused'], plan)).toMatchObject({ state: 'paused' });
  expect(after(['started', 'paused', 'resumed'], plan)).toMatchObject({ state: 'running' });
});

test('a run of another orchestrator follows its events', () => {
  expect(after(['started', 'completed', 'started'], {})).toMatchObject({ state: 'running', plan: null });
});

test.each(['completed', 'canceled'])('a %s run resumes when a person restarts a ticket', (end) => {
  const over = after(['started', end], { ...plan, plan: [['ABC-1'], ['ABC-2']] });
  const waves = [1, 2].map((wave) => ({
    wave,
    state: 'completed' as const,
    tickets: [`ABC-${wave}`],
    seq: 1,
  }));
  const retried = logged(9, 'orchestrator.worker.retried', {
    scope: { orchestrator: 'run-1', ticket: 'ABC-2' },
  });
  expect(over && reduced(reduceRun, [retried], { ...over, waves })).toMatchObject({
    state: 'running',
    endedAt: null,
    waves: [{ state: 'completed' }, { state: 'started', seq: 9 }],
  });
});

test('a paused run, or one of another orchestrator, stays as it is', () => {
  const retried = logged(9, 'orchestrator.worker.retried', {
    scope: { orchestrator: 'run-1', ticket: 'ABC-1' },
  });
  expect(reduced(reduceRun, [retried], after(['started', 'paused'], plan))).toMatchObject({
    state: 'paused',
  });
  expect(reduced(reduceRun, [retried], after(['started', 'canceled'], {}))).toMatchObject({
    state: 'canceled',
  });
});
