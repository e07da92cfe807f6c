import { spanLabel } from 'svc-monitor/src/features/trace/span-words.ts';
import type { TraceSpan } from 'svc-monitor/src/features/trace/trace-span.ts';
import { expect, test } from 'vitest';
import { spanMeaning, spanWords } from './trace-chart.tsx';

const span = (given: Partial<TraceSpan>): TraceSpan => ({
  id: '1',
  kind: 'phase',
  label: 'implementing',
  state: 'running',
  start: '2026-11-09T08:00:00.000Z',
  end: null,
  startSeq: 1,
  endSeq: null,
  reason: null,
  url: null,
  ...given,
});

test.each([
  [{}, 'motion'],
  [{ state: 'ended' }, 'plain'],
  [{ kind: 'pull-request' }, 'review'],
  [{ kind: 'pull-request', state: 'succeeded' }, 'proven'],
  [{ kind: 'checks', state: 'failed' }, 'broken'],
  [{ label: 'pr-created' }, 'review'],
  [{ label: 'stalled' }, 'you'],
  [{ label: 'done', state: 'succeeded' }, 'proven'],
  [{ kind: 'wait', label: 'Waiting for review', state: 'running' }, 'review'],
  [{ kind: 'wait', label: 'Needs a person: review-late', state: 'ended' }, 'you'],
  [{ kind: 'wait', label: 'No process running', state: 'running' }, 'broken'],
  [{ kind: 'wait', label: 'Waiting for deployment', state: 'ended' }, 'plain'],
] as const)('%j means %s', (given, meaning) => expect(spanMeaning(span(given), true)).toBe(meaning));

test('a status that was only claimed is not green, and is labelled as claimed', () => {
  const done = span({ label: 'done', state: 'succeeded' });
  expect(spanMeaning(done, false)).toBe('unknown');
  expect(spanLabel(done, false)).toBe('Done, claimed');
  expect(spanLabel(done, true)).toBe('Done');
  expect(spanLabel(span({ kind: 'checks', label: 'build' }), false)).toBe('build');
});

test('the text of a bar', () => {
  const now = Date.parse('2026-11-09T08:26:30.000Z');
  expect(spanWords(span({}), now)).toMatch(/^\d\d:\d\d to now, 26 min, in progress$/);
  expect(spanWords(span({ end: '2026-11-09T08:00:00.000Z', state: 'succeeded' }), now)).toMatch(
    /^\d\d:\d\d, succeeded$/,
  );
});

test.each([
  ['Needs a person: agent-needs-permission', null, 'Waiting for your permission'],
  ['Needs a person: agent-needs-permission', '2026-11-09T08:10:00.000Z', 'Waited for your permission'],
  ['Needs a person: agent-needs-input', '2026-11-09T08:10:00.000Z', 'Waited for your answer'],
  ['Needs a person: deploy-failed', null, 'Needs you: Deploy failed'],
  ['Needs a person: low-disk', '2026-11-09T08:10:00.000Z', 'Needed you: Low disk'],
  ['Waiting for review', null, 'Waiting for review'],
])('%s until %s is %s', (label, end, words) =>
  expect(spanLabel(span({ kind: 'wait', label, end }), true)).toBe(words),
);
