import { expect, test } from 'vitest';
import { disorder, isKept, judge, type ReadLog, verdictLine } from './verdict.ts';

const acknowledged = new Set(['a', 'b', 'c']);

function log(name: string, ids: string, given: Partial<ReadLog> = {}): ReadLog {
  return { name, ids: ids.split(''), torn: 0, ordered: true, ...given };
}

test('every acknowledged delivery once in every log passes', () => {
  // Unacknowledged deliveries may be there too.
  const verdict = judge(acknowledged, [log('one', 'abc'), log('two', 'abcd')]);
  expect(isKept(verdict)).toBe(true);
  expect(verdictLine(verdict)).toBe('acknowledged 3 lost 0 duplicated 0 torn 0');
});

test.each([
  ['one is missing in one log', log('two', 'ac'), 'lost 1 duplicated 0 torn 0'],
  ['one is there twice', log('two', 'abcb'), 'lost 0 duplicated 1 torn 0'],
  ['a line is torn', log('two', 'abc', { torn: 1 }), 'lost 0 duplicated 0 torn 1'],
])('%s: it is noticed', (_name, damaged, expected) => {
  const verdict = judge(acknowledged, [log('one', 'abc'), damaged]);
  expect(isKept(verdict)).toBe(false);
  expect(verdictLine(verdict)).toContain(expected);
});

test('two logs in different order are noticed, and a log without order is not compared', () => {
  expect(disorder([log('one', 'abc'), log('two', 'abc')])).toBe(0);
  expect(disorder([log('one', 'abcd'), log('two', 'abxd')])).toBe(0);
  expect(disorder([log('one', 'abc'), log('two', 'acb')])).toBe(1);
  expect(disorder([log('one', 'abc'), log('two', 'acb', { ordered: false })])).toBe(0);
});
