import { expect, test } from 'vitest';
import type { Run } from './board-types.ts';
import { reduceRun } from './fold-worker.ts';
import { reduced, told } from './testing/told.ts';

const plan = {
  plan: [['ABC-1']],
  maxParallel: 1,
  project: '/src/web',
  base: 'main',
  workerCommand: '/a:b',
  workerModel: 'opus',
};

/** The run after these lines. */
function after(words: readonly string[], detail: object): Run | undefined {
  let run: Run | undefined;
  words.forEach((word, index) => {
    const line = told(index + 1, `orchestrator.run.${word}`, {
      scope: { orchestrator: 'run-1' },
      detail: index === 0 ? { ...detail } : {},
    });
    run = reduced(reduceRun, [line], run);
  });
  return run;
}

test.each(['completed', 'canceled'])('one that was conducted here and is %s begins no more', (end) => {
  for (const word of ['started', 'resumed', 'paused', 'canceled'])
    expect(after(['started', end, word], plan)).toMatchObject({ state: end, lastSeq: 2 });
});

test('while it runs it is paused and goes on', () => {
  expect(after(['started', 'paused'], plan)).toMatchObject({ state: 'paused' });
  expect(after(['started', 'paused', 'resumed'], plan)).toMatchObject({ state: 'running' });
});

test('one that another orchestrator conducts is as that one says', () => {
  expect(after(['started', 'completed', 'started'], {})).toMatchObject({ state: 'running', plan: null });
});

test.each(['completed', 'canceled'])('one that is %s goes on when a person starts a ticket again', (end) => {
  const over = after(['started', end], { ...plan, plan: [['ABC-1'], ['ABC-2']] });
  const waves = [1, 2].map((wave) => ({
    wave,
    state: 'completed' as const,
    tickets: [`ABC-${wave}`],
    seq: 1,
  }));
  const retried = told(9, 'orchestrator.worker.retried', {
    scope: { orchestrator: 'run-1', ticket: 'ABC-2' },
  });
  expect(over && reduced(reduceRun, [retried], { ...over, waves })).toMatchObject({
    state: 'running',
    endedAt: null,
    waves: [{ state: 'completed' }, { state: 'started', seq: 9 }],
  });
});

test('a run that is paused, or that others conduct, stays as it is', () => {
  const retried = told(9, 'orchestrator.worker.retried', {
    scope: { orchestrator: 'run-1', ticket: 'ABC-1' },
  });
  expect(reduced(reduceRun, [retried], after(['started', 'paused'], plan))).toMatchObject({
    state: 'paused',
  });
  expect(reduced(reduceRun, [retried], after(['started', 'canceled'], {}))).toMatchObject({
    state: 'canceled',
  });
});
