import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { topics } from '../../features/topics.ts';
import { createJqThreads } from './jq-threads.ts';

const lines = ['{"event":"codehost.push","scope":{"pr":7}}', '{"event":"tracker.issue.created","scope":{}}'];

function threads(options: Partial<Parameters<typeof createJqThreads>[0]> = {}) {
  const made = createJqThreads({ topics, answerWithinMs: WAIT_MS, ...options });
  onTestFinished(made.close);
  return made;
}

test('several filters at once, each with its own answer', async () => {
  const { matches } = threads();
  expect(
    await Promise.all([
      matches('.scope.pr == 7', lines),
      matches('.scope.pr == null', lines),
      matches('true', []),
      matches('.scope.pr == 7', lines.toReversed()),
    ]),
  ).toEqual([[true, false], [false, true], [], [false, true]]);
});

test('an invalid filter is reported, and the next one is answered', async () => {
  const { matches } = threads();
  await expect(matches('.event ==', [])).rejects.toMatchObject({ code: 'usage' });
  await expect(matches('.event | startwith("x")', [])).rejects.toThrow('startwith/1 is not defined');
  await expect(matches('.event == "codehost.pr.megred"', [])).rejects.toThrow('No event can have the topic');
  await expect(matches(`"${'x'.repeat(5_000)}"`, [])).rejects.toThrow('at most 4000 characters');
  expect(await matches('true', lines)).toEqual([true, true]);
});

test('a filter that reads other lines is refused, immediately or when it does', async () => {
  const { matches } = threads();
  await expect(matches('input', lines)).rejects.toThrow('it reads other events');
  await expect(matches('if .scope.pr == 7 then input else . end', lines)).rejects.toThrow(
    'reads other events',
  );
  expect(await matches('true', lines)).toEqual([true, true]);
});

test('a filter that needs too much memory is reported, and the next one is answered', async () => {
  const { matches } = threads();
  await expect(matches('[limit(9000; repeat("x" * 1000000))] | add', lines)).rejects.toMatchObject({
    code: 'filter-too-large',
  });
  expect(await matches('.scope.pr == 7', lines)).toEqual([true, false]);
});

/** The thread's time, and that of the processor, passes only when the test advances it. */
function holdTime() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return { answerWithinMs: 300, usedMs: () => Date.now() };
}

test('a filter that never ends is terminated, and the next ones are answered', async () => {
  const { matches } = threads(holdTime());
  expect(await matches('true', lines)).toEqual([true, true]);
  const endless = matches('def f: f; f', lines);
  const behind = matches('.scope.pr == 7', lines);
  vi.advanceTimersByTime(300);
  await expect(endless).rejects.toMatchObject({ code: 'filter-too-slow' });
  expect(await behind).toEqual([true, false]);
});

test('on a busy machine a filter has more time, but not without a limit', async () => {
  const { matches } = threads({ ...holdTime(), usedMs: () => 0 });
  await matches('true', lines);
  let isAnswered = false;
  const endless = matches('def f: f; f', lines).finally(() => (isAnswered = true));
  vi.advanceTimersByTime(2_999);
  await nextTurn();
  expect(isAnswered).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(endless).rejects.toMatchObject({ code: 'filter-too-slow' });
});

test('the event loop continues meanwhile', async () => {
  const { matches } = threads(holdTime());
  await matches('true', lines);
  let isAnswered = false;
  const answer = matches('[range(1e12)] | length', lines).finally(() => (isAnswered = true));
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  vi.advanceTimersByTime(299);
  await nextTurn();
  expect(isAnswered).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(answer).rejects.toThrow('takes too long');
});

test('an idle thread ends, and is started again', async () => {
  holdTime();
  const ended = vi.spyOn(Worker.prototype, 'terminate');
  onTestFinished(() => ended.mockRestore());
  const { matches } = threads({ idleMs: 1_000 });
  expect(await matches('true', lines)).toEqual([true, true]);
  vi.advanceTimersByTime(999);
  expect(ended).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(ended).toHaveBeenCalledOnce();
  expect(await matches('true', lines)).toEqual([true, true]);
});

test('closing ends what is running', async () => {
  const { matches, close } = createJqThreads({ topics, answerWithinMs: WAIT_MS });
  const endless = matches('def f: f; f', lines).catch((error: unknown) => error);
  await close();
  expect(await endless).toMatchObject({ code: 'busy' });
});
