import type { WorkerOutput } from 'svc-monitor/src/features/workers/api.ts';
import { expect, test } from 'vitest';
import { MOST_LINES, noOutput, withPage } from './output-panel.tsx';

const page = (from: number, offsets: number[], given: Partial<WorkerOutput> = {}): WorkerOutput => ({
  ticket: 'ABC-1',
  orchestrator: 'run-1',
  exists: true,
  file: 'out.jsonl',
  size: 1_000,
  from,
  to: (offsets.at(-1) ?? from) + 10,
  restarted: false,
  errors: '',
  lines: offsets.map((offset) => ({ offset, kind: 'text', text: `at ${offset}`, ok: null, cut: false })),
  ...given,
});
const offsetsOf = (state: typeof noOutput): number[] => state.lines.map(({ offset }) => offset);

test('pages are joined, and each line appears once', () => {
  const first = withPage(noOutput, page(100, [100, 110]));
  expect(first).toMatchObject({ file: 'there', to: 120, hasEarlier: true });
  const second = withPage(first, page(110, [110, 120]));
  expect(offsetsOf(second)).toEqual([100, 110, 120]);
  expect(withPage(noOutput, page(0, [0])).hasEarlier).toBe(false);
});

test('one line of the file may have several entries', () => {
  const first = withPage(noOutput, page(0, [0, 0, 10]));
  const second = withPage(first, page(20, [20, 20]));
  expect(offsetsOf(second)).toEqual([0, 0, 10, 20, 20]);
  expect(new Set(second.lines.map(({ id }) => id)).size).toBe(5);
});

test('a page without new lines changes nothing', () => {
  const first = withPage(noOutput, page(0, [0]));
  expect(withPage(first, page(10, [], { to: 10 }))).toBe(first);
});

test('the end of the standard error is always the newest', () => {
  const first = withPage(noOutput, page(0, [0]));
  const failed = withPage(first, page(10, [], { to: 10, errors: 'exec: claude: not found' }));
  expect(failed).toEqual({ ...first, errors: 'exec: claude: not found' });
  expect(withPage(noOutput, page(0, [], { exists: false, errors: 'no disk' }))).toMatchObject({
    file: 'none',
    errors: 'no disk',
  });
});

test('a shorter file starts over', () => {
  const first = withPage(noOutput, page(0, [0, 10, 20]));
  const restarted = withPage(first, page(0, [0, 10], { restarted: true }));
  expect(offsetsOf(restarted)).toEqual([0, 10]);
  expect(restarted.restarts).toBe(1);
});

test('a missing file is distinguished from a removed file', () => {
  const missing = page(0, [], { exists: false });
  expect(withPage(noOutput, missing).file).toBe('none');
  const gone = withPage(withPage(noOutput, page(0, [0])), missing);
  expect(gone.file).toBe('gone');
  expect(offsetsOf(gone)).toEqual([0]);
  const again = withPage(gone, page(0, [0, 10]));
  expect(again).toMatchObject({ file: 'there', restarts: 1 });
  expect(offsetsOf(again)).toEqual([0, 10]);
});

test('the number of lines is bounded', () => {
  const many = Array.from({ length: MOST_LINES + 20 }, (_, index) => index);
  const state = withPage(noOutput, page(0, many));
  expect(state.lines).toHaveLength(MOST_LINES);
  expect(state.lines[0]?.offset).toBe(20);
  expect(state.hasEarlier).toBe(true);
});
