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
    ['a time that is none', { ts: 'now' }],
    ['a time that is not UTC', { ts: '2026-01-02T03:04:05+01:00' }],
    ['a skill that is no text', { skill: 1 }],
    ['a title that is no text', { title: null }],
    ['a body that is no text', { body: {} }],
    ['a severity that is no text', { severity: 1 }],
    ['tags that are no list', { tags: 'plans' }],
    ['tags that are no texts', { tags: [1] }],
  ])('%s', (_, wrong) => {
    expect(Finding.safeParse({ ...finding, ...wrong }).success).toBe(false);
  });
});
