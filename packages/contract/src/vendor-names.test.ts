import { describe, expect, test } from 'vitest';
import {
  canonicalCommand,
  canonicalKey,
  canonicalPath,
  headerValue,
  neutralProvider,
  realProvider,
  spellingsOfPath,
} from './vendor-names.ts';

describe('headerValue', () => {
  test.each([
    ['X-Codehost-Event', 'x-codehost-event'],
    ['X-Codehost-Event', 'x-github-event'],
    ['X-Codehost-Delivery', 'x-codehost-delivery'],
    ['X-Codehost-Delivery', 'x-github-delivery'],
    ['X-Hub-Signature-256', 'x-hub-signature-256'],
    ['Tracker-Event', 'tracker-event'],
    ['Tracker-Event', 'linear-event'],
    ['Tracker-Delivery', 'tracker-delivery'],
    ['Tracker-Delivery', 'linear-delivery'],
    ['Tracker-Signature', 'tracker-signature'],
    ['Tracker-Signature', 'linear-signature'],
  ] as const)('%s is read from %s', (name, spelling) => {
    expect(headerValue({ [spelling]: 'value' }, name)).toBe('value');
    expect(headerValue({ [spelling]: ['first', 'second'] }, name)).toBe('first');
    expect(headerValue({ [spelling]: '  ' }, name)).toBeUndefined();
    expect(headerValue({}, name)).toBeUndefined();
  });

  test('the neutral name wins', () => {
    expect(headerValue({ 'x-github-event': 'push', 'x-codehost-event': 'status' }, 'X-Codehost-Event')).toBe(
      'status',
    );
  });
});

test.each([
  ['anthropic', 'provider-a'],
  ['openai', 'provider-b'],
  ['grok', 'provider-c'],
])('%s is %s', (real, neutral) => {
  expect(neutralProvider(real)).toBe(neutral);
  expect(neutralProvider(neutral)).toBe(neutral);
  expect(realProvider(neutral)).toBe(real);
  expect(realProvider(real)).toBe(real);
});

test('an unknown provider stays itself and has no real name', () => {
  expect(neutralProvider('other')).toBe('other');
  expect(realProvider('other')).toBeUndefined();
});

test.each([
  ['svc.linear', 'svc.tracker'],
  ['svc.linear.teamKey', 'svc.tracker.teamKey'],
  ['svc.feedback.githubRepo', 'svc.feedback.codehostRepo'],
  ['svc.ai.providers.openai.apiKeyEnv', 'svc.ai.providers.provider-b.apiKeyEnv'],
  ['svc.linearity', 'svc.linearity'],
  ['svc.monitor.linear.smeeChannel', 'svc.monitor.linear.smeeChannel'],
  ['svc.tracker.teamKey', 'svc.tracker.teamKey'],
])('the key %s is %s', (written, canonical) => {
  expect(canonicalKey(written)).toBe(canonical);
});

test('paths and commands', () => {
  expect(canonicalPath('/api/webhook/linear')).toBe('/api/webhook/tracker');
  expect(canonicalPath('/api/webhook')).toBe('/api/webhook');
  expect(spellingsOfPath('/api/webhook/tracker')).toEqual(['/api/webhook/tracker', '/api/webhook/linear']);
  expect(spellingsOfPath('/api/health')).toEqual(['/api/health']);
  expect(canonicalCommand('resolve-linear-ids.sh')).toBe('resolve-tracker-ids.sh');
  expect(canonicalCommand('svc')).toBe('svc');
});
