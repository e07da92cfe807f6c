import { expect, test } from 'vitest';
import { lineGist } from './line-gist.ts';

test.each([
  [{ from: 'planning', to: 'implementing', signal: {} }, 'planning → implementing'],
  [{ to: 'inReview' }, '→ inReview'],
  [{ message: 'The  deploy\nfailed', reason: 'deploy-failed' }, 'The deploy failed'],
  [{ state: 'success', environment: 'production' }, 'success'],
  [{ suiteId: 3, status: 'queued', conclusion: null }, 'queued'],
  [{ number: 12, draft: false, hash: 'x', nested: {} }, 'number 12, draft false'],
  [
    { changed: ['stateId'], state: { id: 's', name: 'In Review' }, title: 'Show it', url: 'https://t/1' },
    '→ In Review: Show it',
  ],
  [{ body: 'Ask before you read it', url: 'https://t/1', actorId: 'user-1' }, 'Ask before you read it'],
  [{ url: 'https://t/1', actorId: 'user-1', webhookTimestamp: 1, number: 3 }, 'number 3'],
  [{}, ''],
])('%j is %s', (detail, gist) => expect(lineGist({ detail })).toBe(gist));

test('its length is bounded', () =>
  expect(lineGist({ detail: { message: 'x'.repeat(9_999) } })).toHaveLength(400));
