import { expect, test } from 'vitest';
import { linesOfFailure, readableLine } from './log-text.ts';

const info =
  '{"level":30,"time":"2026-01-02T03:04:05.678Z","pid":7,"hostname":"desk","msg":"listening","port":7400}';
const error =
  '{"level":50,"time":"2026-01-02T03:04:06.000Z","err":{"message":"no space","stack":"at x"},"msg":"a line was lost"}';

test.each([
  [info, '2026-01-02T03:04:05.678Z info  listening port=7400'],
  [error, '2026-01-02T03:04:06.000Z error a line was lost err=no space'],
  ['Segmentation fault', 'Segmentation fault'],
  ['{"level":30}', '{"level":30}'],
  ['{"level":30,"time":"t","msg":"\\u001b[31mred\\nsecond"}', 't info  red second'],
])('%s', (line, readable) => expect(readableLine(line)).toBe(readable));

test('a failed start shows its reason, not what every start reports', () => {
  expect(linesOfFailure([info, 'error: The port is taken.'])).toEqual(['error: The port is taken.']);
  expect(linesOfFailure([info, error])).toEqual([readableLine(error)]);
  expect(linesOfFailure([info])).toEqual([readableLine(info)]);
});
