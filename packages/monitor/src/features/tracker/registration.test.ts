import { describe, expect, test } from 'vitest';
import { isSameUrl } from '../feeds/feed-channel.ts';
import type { TrackerWebhook } from './api-answer.ts';
import { registrationStep, shortcomingsOf, trackerResourceTypes } from './registration.ts';

const URL = 'https://relay.example/Channel';
const OTHER = 'https://relay.example/other';

const webhook = (given: Partial<TrackerWebhook> = {}): TrackerWebhook => ({
  id: 'w-1',
  url: URL,
  enabled: true,
  resourceTypes: [...trackerResourceTypes],
  allPublicTeams: false,
  team: { id: 'team' },
  ...given,
});
const recorded = { webhookId: 'w-0', webhookUrl: URL };

describe('the next step', () => {
  test.each([
    ['the record matches', { record: recorded, url: URL }, 'already-registered'],
    ['it matches except for case', { record: recorded, url: URL.toUpperCase() }, 'already-registered'],
    ['the record holds another URL', { record: recorded, url: OTHER }, 'refuse'],
    ['the record holds no URL', { record: { webhookId: 'w-0', webhookUrl: undefined }, url: URL }, 'refuse'],
    ['there is a record and no URL', { record: recorded }, 'refuse'],
    ['force, the same URL', { record: recorded, url: URL, force: true }, 'remove-recorded'],
    ['force, another URL', { record: recorded, url: OTHER, force: true }, 'remove-recorded'],
    ['force, no URL yet', { record: recorded, force: true }, 'make-channel'],
    ['force, removed', { url: URL, force: true, existing: [] }, 'create'],
    ['force without a record', { url: URL, force: true }, 'list'],
    ['nothing exists', {}, 'make-channel'],
    ['no record', { url: URL }, 'list'],
    ['no record, none at the tracker', { url: URL, existing: [] }, 'create'],
    ['no record, others at the tracker', { url: OTHER, existing: [webhook()] }, 'create'],
    ['no record, ours at the tracker', { url: URL, existing: [webhook()] }, 'reuse'],
    ['ours except for case', { url: URL.toLowerCase(), existing: [webhook()] }, 'reuse'],
    ['one without a URL', { url: URL, existing: [webhook({ url: null })] }, 'create'],
  ])('%s', (_, facts, step) => {
    const known = { record: undefined, url: undefined, force: false, existing: undefined };
    expect(registrationStep({ ...known, ...facts }).step).toBe(step);
  });

  test('of several, an enabled one is used', () => {
    const existing = [webhook({ id: 'off', enabled: false }), webhook({ id: 'on' })];
    expect(registrationStep({ record: undefined, url: URL, force: false, existing })).toMatchObject({
      webhook: { id: 'on' },
    });
  });
});

test('URLs are compared ignoring case, and otherwise exactly', () => {
  expect(isSameUrl('HTTPS://Relay.example/abc', 'https://relay.example/ABC')).toBe(true);
  expect(isSameUrl('https://relay.example/abc/', 'https://relay.example/abc')).toBe(false);
  expect(isSameUrl(undefined, 'https://relay.example/abc')).toBe(false);
});

test('the resource types are exactly these six', () => {
  expect(trackerResourceTypes).toEqual(['Issue', 'Comment', 'IssueLabel', 'Cycle', 'Reaction', 'Project']);
});

test.each([
  ['none', {}, []],
  ['none, for all teams', { team: null, allPublicTeams: true }, []],
  ['off', { enabled: false }, ['it is disabled in the tracker']],
  ['another team', { team: { id: 'x' } }, ['it belongs to another team']],
  [
    'resource types',
    { resourceTypes: ['Issue', 'Comment', 'Cycle'] },
    ['it does not send IssueLabel, Reaction, Project'],
  ],
])('shortcomings of a webhook: %s', (_, given, wanted) => {
  expect(shortcomingsOf(webhook(given), 'team')).toEqual(wanted);
});
