import { describe, expect, test } from 'vitest';
import { ticketNamed } from '../codehost/map-codehost.ts';

describe('without known prefixes', () => {
  test.each([
    ['ENG-42', undefined, 'ENG-42'],
    ['eng-42-login-form', undefined, 'ENG-42'],
    ['kim/eng-42-login-form', undefined, 'ENG-42'],
    ['refs/heads/eng-42', undefined, 'ENG-42'],
    ['feature/AB12-7', undefined, 'AB12-7'],
    ['main', 'ENG-42: add the form', 'ENG-42'],
    ['main', '[ENG-42] add the form', 'ENG-42'],
    ['main', 'Add the form (ENG-42)', 'ENG-42'],
    ['main', 'Add the form, ENG-42', undefined],
    ['main', 'eng-42 add the form', undefined],
    ['main', 'UTF-8 everywhere', undefined],
    ['utf-8-names', undefined, undefined],
    ['fix-utf-8', undefined, undefined],
    ['sha-256', undefined, undefined],
    ['kim/patch-1', undefined, undefined],
    ['cve-2026-1234', undefined, undefined],
    ['bump/lodash-4.17.21', undefined, undefined],
    ['release-2', undefined, undefined],
    ['x-1', undefined, undefined],
    ['eng-42b', undefined, undefined],
    ['eng42', undefined, undefined],
    ['eng-', undefined, undefined],
    [undefined, undefined, undefined],
  ])('branch %s, title %s: %s', (branch, title, ticket) => {
    expect(ticketNamed(branch, title)).toBe(ticket);
    expect(ticketNamed(branch, title, [])).toBe(ticket);
  });
});

describe('with known prefixes', () => {
  test.each([
    ['kim-eng-42-form', undefined, 'ENG-42'],
    ['fix_ENG-42', undefined, 'ENG-42'],
    ['node-24/eng-42', undefined, 'ENG-42'],
    ['main', 'Add the form, eng-42.', 'ENG-42'],
    ['web-7', undefined, 'WEB-7'],
    ['ops-1', undefined, undefined],
    ['seng-42', undefined, undefined],
    ['utf-8', 'ISO-8601', undefined],
  ])('branch %s, title %s: %s', (branch, title, ticket) => {
    expect(ticketNamed(branch, title, ['ENG', 'web'])).toBe(ticket);
  });

  test('a known prefix may be an everyday word', () => {
    expect(ticketNamed('task-9', undefined, ['TASK'])).toBe('TASK-9');
  });
});
