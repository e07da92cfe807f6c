import { expect, test } from 'vitest';
import { findingLabels, findingTicket } from './findings.ts';

const finding = {
  ts: '2026-01-02T03:04:05.678Z',
  skill: 'implement-plan',
  title: 'A title\nin two lines',
  body: 'What was seen.\n',
  severity: 'high' as const,
  tags: ['plans', 'files'],
};

test('a ticket has everything in the finding, and its key in the last line', () => {
  expect(findingTicket(finding, 'the-key')).toEqual({
    title: 'A title in two lines',
    text: [
      'What was seen.',
      '',
      '---',
      '',
      'Severity: high',
      'Skill: implement-plan',
      'Tags: plans, files',
      'Noted: 2026-01-02T03:04:05.678Z',
      '',
      'svc-key: the-key',
    ].join('\n'),
  });
});

test('empty parts are left out, long ones are cut, and the key stays', () => {
  const { text } = findingTicket({ ...finding, skill: '', tags: [], body: '' }, 'k');
  expect(text).toBe('---\n\nSeverity: high\nNoted: 2026-01-02T03:04:05.678Z\n\nsvc-key: k');
  const long = findingTicket({ ...finding, title: 't'.repeat(999), body: 'b'.repeat(99_999) }, 'k');
  expect(long.title.length).toBeLessThanOrEqual(250);
  expect(long.text.length).toBeLessThan(60_100);
  expect(long.text).toMatch(/…\[cut \d+ characters\]\n\nsvc-key: k$/);
});

test.each([
  [['auto-submitted'], 'implement-plan', ['auto-submitted', 'implement-plan']],
  [['auto-submitted'], '', ['auto-submitted']],
  [[], 'plan', ['plan']],
  [['Plan', 'a'], 'plan', ['Plan', 'a']],
  [['a\nb', ' '], 'c', ['a b', 'c']],
])('labels %j and the skill %j are %j', (base, skill, labels) => {
  expect(findingLabels(base, skill)).toEqual(labels);
});
