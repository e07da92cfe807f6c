import { describe, expect, test } from 'vitest';
import { matchesGlob } from '../kernel/log/topics.ts';
import { growthOfCost } from '../kernel/testing/growth-of-cost.ts';
import { topics } from './topics.ts';

test('every topic is lower-case words joined by dots, and listed once', () => {
  for (const topic of topics.names) expect(topic).toMatch(/^[a-z]+(\.[a-z_]+){1,2}$/);
  expect(new Set(topics.names).size).toBe(topics.names.length);
});

test.each([
  ['codehost.pr.', 23],
  ['codehost.pr_review.', 3],
  ['codehost.pr_review_thread.', 2],
  ['codehost.pr_review_comment.', 3],
  ['codehost.check_suite.', 3],
  ['codehost.status.', 4],
  ['codehost.issue_comment.', 3],
  ['codehost.deployment.', 1],
  ['codehost.deployment_status.', 8],
  ['tracker.', 21],
  ['orchestrator.', 32],
  ['workflow.ticket.', 4],
  ['workflow.rule.', 7],
  ['comms.', 6],
  ['monitor.', 12],
  ['feedback.', 3],
  ['archive.', 3],
])('%s has %i topics', (prefix, count) => {
  expect(topics.names.filter((topic) => topic.startsWith(prefix))).toHaveLength(count);
});

test.each(['__proto__', 'constructor', 'toString', '', 'codehost.pr', 'codehost.pr.*'])(
  '%j is not a topic',
  (text) => {
    expect(topics.has(text)).toBe(false);
  },
);

describe('topics.matching', () => {
  test.each([
    ['codehost.pr.merged', ['codehost.pr.merged']],
    [
      'comms.*',
      [
        'comms.attention',
        'comms.attention_resolved',
        'comms.attention_acknowledged',
        'comms.attention_snoozed',
        'comms.attention_handed_over',
        'comms.attention_undone',
      ],
    ],
    ['*.push', ['codehost.push']],
    [
      'tracker.*.removed',
      topics.names.filter((topic) => topic.startsWith('tracker.') && topic.endsWith('.removed')),
    ],
    ['*', topics.names],
    ['codehost.pr.mergd', []],
    ['codehost.pr', []],
    ['', []],
    ['codehost.pr.merged.42', []],
    ['codehost?push', []],
  ])('%j', (glob, expected) => {
    expect(topics.matching(glob)).toEqual(expected);
  });

  test('a glob with many stars takes linear time', () => {
    const match = (length: number) => matchesGlob(`${'*a'.repeat(length / 2)}*b`, 'a'.repeat(length));
    expect(match(10_000)).toBe(false);
    expect(growthOfCost(match, 16_000)).toBeLessThan(6);
  });
});

test.each([
  ['codehost.pr.mergd', 'codehost.pr.merged'],
  ['tracker.issue.state-changed', 'tracker.issue.state_changed'],
  ['Codehost.Push', 'codehost.push'],
  ['something else entirely', undefined],
  ['x'.repeat(100_000), undefined],
])('suggestTopic', (text, expected) => {
  expect(topics.suggest(text)).toBe(expected);
});

test('a topic has its own detail schema', () => {
  const attention = topics.schemaOf('comms.attention');
  const item = {
    reason: 'deploy-timeout',
    message: 'No deploy for 30 minutes',
    remedy: 'svc deploy retry ENG-42',
    severity: 'high',
  };
  expect(attention.safeParse(item).success).toBe(true);
  expect(attention.safeParse({ ...item, severity: 'dreadful' }).success).toBe(false);
  expect(attention.safeParse({ ...item, reason: 'Deploy timeout' }).success).toBe(false);
});
