import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAttributes, resourceAttributes } from './resource-attributes.ts';

const facts = {
  project: 'web',
  hostname: 'mini.local',
  branch: 'kim/eng-12-login',
  ticket: 'ENG-7',
  ticketPrefixes: ['ENG'],
  orchestration: 'spring clean',
};

test('project, hostname, branch, ticket key and orchestration, by the names of the specification', () => {
  expect(resourceAttributes(facts)).toEqual({
    project: 'web',
    hostname: 'mini.local',
    'git.branch': 'kim/eng-12-login',
    'ticket.key': 'ENG-12',
    'svc.orchestration': 'spring clean',
  });
  expect(formatAttributes(resourceAttributes(facts))).toBe(
    'project=web,hostname=mini.local,git.branch=kim%2Feng-12-login,ticket.key=ENG-12,svc.orchestration=spring%20clean',
  );
});

test.each([
  ['the one of the branch', 'kim/eng-12-login', 'ENG-7', 'ENG-12'],
  ['else the current ticket of the worktree', 'main', 'ENG-7', 'ENG-7'],
  ['a detached head has the current ticket', null, 'ENG-7', 'ENG-7'],
  ['another team’s ticket does not count', 'kim/ops-3', 'ENG-7', 'ENG-7'],
  ['none at all', 'main', null, undefined],
])('the ticket key is %s', (_, branch, ticket, expected) => {
  expect(resourceAttributes({ ...facts, branch, ticket })['ticket.key']).toBe(expected);
});

test('unknown values have no attribute', () => {
  const none = { project: null, hostname: 'mini', branch: null, ticket: null, orchestration: null };
  expect(resourceAttributes({ ...none, ticketPrefixes: [] })).toEqual({ hostname: 'mini' });
  expect(resourceAttributes({ ...none, project: '', ticketPrefixes: [] })).toEqual({ hostname: 'mini' });
});

test('any value is decoded unchanged', () => {
  // The characters that need no encoding in the W3C's baggage format.
  const whole = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), (project) => {
      const text = formatAttributes(resourceAttributes({ ...facts, project }));
      const [first = ''] = text.split(',');
      expect(first.split('=')).toHaveLength(2);
      expect(first.split('=')[1]).toMatch(whole);
      const pairs = text.split(',').map((pair) => pair.split('=').map(decodeURIComponent));
      expect(Object.fromEntries(pairs)).toEqual(resourceAttributes({ ...facts, project }));
    }),
  );
});
