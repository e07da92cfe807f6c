import { expect, onTestFinished, test } from 'vitest';
import { createJqThreads } from './jq-threads.ts';

const lines = ['{"event":"codehost.push","scope":{"pr":7}}', '{"event":"tracker.issue.created","scope":{}}'];

function threads(options: Parameters<typeof createJqThreads>[0] = {}) {
  const made = createJqThreads(options);
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

test('what is wrong with a filter is said, and the next one is answered', async () => {
  const { matches } = threads();
  await expect(matches('.event ==', [])).rejects.toMatchObject({ code: 'usage' });
  await expect(matches('.event | startwith("x")', [])).rejects.toThrow('startwith/1 is not defined');
  await expect(matches('.event == "codehost.pr.megred"', [])).rejects.toThrow('No event can have the topic');
  await expect(matches(`"${'x'.repeat(5_000)}"`, [])).rejects.toThrow('at most 4000 characters');
  expect(await matches('true', lines)).toEqual([true, true]);
});

test('a filter that never ends is ended, and those behind it are answered', async () => {
  const { matches } = threads({ answerWithinMs: 300 });
  expect(await matches('true', lines)).toEqual([true, true]);
  const started = performance.now();
  const endless = matches('def f: f; f', lines);
  const behind = matches('.scope.pr == 7', lines);
  await expect(endless).rejects.toMatchObject({ code: 'filter-too-slow' });
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await behind).toEqual([true, false]);
});

test('the event loop goes on meanwhile', async () => {
  const { matches } = threads({ answerWithinMs: 300 });
  await matches('true', lines);
  let turns = 0;
  const clock = setInterval(() => (turns += 1), 10);
  await expect(matches('[range(1e12)] | length', lines)).rejects.toThrow('takes too long');
  clearInterval(clock);
  expect(turns).toBeGreaterThan(5);
});

test('an idle thread ends, and comes back', async () => {
  const { matches } = threads({ idleMs: 1 });
  expect(await matches('true', lines)).toEqual([true, true]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await matches('true', lines)).toEqual([true, true]);
});

test('closing ends what is under way', async () => {
  const { matches, close } = createJqThreads();
  const endless = matches('def f: f; f', lines).catch((error: unknown) => error);
  await close();
  expect(await endless).toMatchObject({ code: 'busy' });
});
