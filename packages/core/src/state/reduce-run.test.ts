import { expect, test } from 'vitest';
import { reduceRun } from './reduce-run.ts';
import type { Run } from './run.ts';
import { told } from './testing/told.ts';

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
    run = reduceRun(run, line);
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
