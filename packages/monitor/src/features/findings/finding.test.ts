import { describe, expect, test } from 'vitest';
import { Finding } from './findings.ts';

const finding = {
  ts: '2026-01-02T03:04:05.678Z',
  skill: 'implement-plan',
  title: 'The plan names a file that is not there',
  body: '',
  severity: 'low',
  tags: ['plans'],
};

test('a finding is accepted as it is, unknown fields included', () => {
  expect(Finding.parse(finding)).toEqual(finding);
  expect(Finding.parse({ ...finding, later: 1 })).toEqual({ ...finding, later: 1 });
});

describe('refused', () => {
  test.each(Object.keys(finding))('without %s', (name) => {
    expect(Finding.safeParse({ ...finding, [name]: undefined }).success).toBe(false);
  });

  test.each([
    ['an invalid time', { ts: 'now' }],
    ['a time that is not UTC', { ts: '2026-01-02T03:04:05+01:00' }],
    ['a skill that is not a string', { skill: 1 }],
    ['a title that is not a string', { title: null }],
    ['a body that is not a string', { body: {} }],
    ['a severity that is not a string', { severity: 1 }],
    ['tags that are not a list', { tags: 'plans' }],
    ['tags that are not strings', { tags: [1] }],
  ])('%s', (_, wrong) => {
    expect(Finding.safeParse({ ...finding, ...wrong }).success).toBe(false);
  });
});
