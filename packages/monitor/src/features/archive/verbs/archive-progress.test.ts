import { expect, test } from 'vitest';
import { bytesText, createProgress } from './archive-session.ts';

function progressOn(isTTY: boolean) {
  let now = 0;
  const lines: string[] = [];
  const drawn: string[] = [];
  const progress = createProgress({
    terminal: { err: (text) => void lines.push(text), now: () => new Date(now) },
    stream: { isTTY, columns: 60, write: (text) => drawn.push(text) },
    verb: 'Sweeping',
  });
  const step = (run: number, bytes: number, ms: number): void => {
    now += ms;
    progress.show({ orchestrator: 'orch-with-a-long-name', run, runs: 4, bytes });
  };
  return { progress, step, lines, drawn };
}

test('on a terminal a bar is drawn over itself, not too often, and cleared at the end', () => {
  const { progress, step, lines, drawn } = progressOn(true);
  step(1, 1024, 10);
  expect(drawn).toEqual([]);
  step(3, 1024, 100);
  expect(drawn).toEqual([`\r\x1b[K[############............] Sweeping 3 of 4 runs, 2.0 KiB: o`]);
  progress.end();
  progress.end();
  expect(drawn.slice(1)).toEqual(['\r\x1b[K']);
  expect(lines).toEqual([]);
});

test('without a terminal a plain line is printed now and then', () => {
  const { progress, step, lines, drawn } = progressOn(false);
  for (let run = 1; run <= 4; run += 1) step(run, 500, 2_000);
  progress.end();
  expect(lines).toEqual(['Sweeping 3 of 4 runs, 1.5 KiB']);
  expect(drawn).toEqual([]);
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
