import { describe, expect, test } from 'vitest';
import { isLimitOver, isUnpaid, limitAfter, limitEnd, limitInError, limitInMessage } from './limits.ts';

const at = '2026-11-16T14:00:00.000Z';
const zone = 'Europe/Berlin';

/** As agents and providers word it. */
const words: [words: string | object, until: string | null][] = [
  ['Claude AI usage limit reached|1794843720', '2026-11-16T15:42:00.000Z'],
  [
    { code: -32603, message: 'Internal error: You’ve hit your limit · resets 5pm (America/New_York)' },
    '2026-11-16T22:00:00.000Z',
  ],
  ["You've hit your weekly limit · resets Mon 9:30am (UTC)", '2026-11-23T09:30:00.000Z'],
  ['5-hour limit reached ∙ resets 5pm', '2026-11-16T16:00:00.000Z'],
  [
    "You've hit your usage limit. Upgrade to Pro (https://example.com) or try again in 5 days 22 hours 11 minutes.",
    '2026-11-22T12:11:00.000Z',
  ],
  ["You've hit your usage limit. Try again at Nov 20th, 2026 5:42 PM.", '2026-11-20T16:42:00.000Z'],
  [
    {
      code: 429,
      message: 'usage',
      data: {
        error: '{"error":{"type":"usage_limit_reached","resets_at":1794843720,"resets_in_seconds":3720}}',
      },
    },
    '2026-11-16T15:42:00.000Z',
  ],
  [
    { message: 'The usage limit has been reached', data: { resets_in_seconds: 60 } },
    '2026-11-16T14:01:00.000Z',
  ],
  [{ code: 429, message: 'Rate limit exceeded. Try again later.' }, null],
  [
    'You have exhausted your capacity on this model. Your quota will reset after 2h3m12s.',
    '2026-11-16T16:03:12.000Z',
  ],
  [
    { message: 'RESOURCE_EXHAUSTED', data: { details: [{ retryDelay: '34.5s' }] } },
    '2026-11-16T14:00:34.500Z',
  ],
  [
    "You've reached your weekly rate limit. Please wait for your limit to reset on November 20, 2026 at 2:00 AM or switch to auto.",
    '2026-11-20T01:00:00.000Z',
  ],
  [
    "Sorry, you've hit a rate limit that restricts requests. Please try again in 58 hours.",
    '2026-11-19T00:00:00.000Z',
  ],
  [
    'Sorry, you have been rate-limited. Please wait 2 minutes before trying again',
    '2026-11-16T14:02:00.000Z',
  ],
  ['Too Many Requests (retry-after: 30)', '2026-11-16T14:00:30.000Z'],
  ['rate limit until 2026-11-16T18:00:00+01:00', '2026-11-16T17:00:00.000Z'],
  ['Usage limit reached, resets 5', null],
  ['Usage limit reached, resets 5pm (Nowhere/Land)', null],
  // Just passed: the provider is late. Long past: the day after.
  ['usage limit reached, resets 14:58', '2026-11-16T13:58:00.000Z'],
  ['usage limit reached, resets 10:00', '2026-11-17T09:00:00.000Z'],
  // Absurdly far away.
  ['Claude AI usage limit reached|4102444800', null],
  ['usage limit reached|99999999999999', null],
];

test.each(words)('%j ends at %s', (given, until) => {
  const found = limitInError(given);
  expect(found).not.toBeNull();
  expect(limitEnd(found ?? '', at, zone)).toBe(until);
});

test.each([
  { code: -32603, message: 'Internal error' },
  { code: -32000, message: 'Authentication required' },
  'Context limit reached',
  'The maximum number of turns is reached: limit 20',
])('%j is no usage limit', (error) => {
  expect(limitInError(error)).toBeNull();
});

test.each([
  ["You've hit your limit · resets 5pm", true],
  ['Usage limit reached. Try again in 2 hours.', true],
  ['I have added a test for the message "usage limit reached".', false],
  [`You've hit your limit. ${'The limiter is done. '.repeat(30)}`, false],
])('as the last message of a turn, %s', (message, isLimit) => {
  expect(limitInMessage(message) !== null).toBe(isLimit);
});

test('an account without credit is not waited for', () => {
  const text = 'Your credit balance is too low to access the API';
  expect([limitInError(text) !== null, isUnpaid(text)]).toEqual([true, true]);
});

describe('when svc continues', () => {
  const given = { attempt: 1, turn: 3, text: 'x', at, unpaid: false };
  const later = (minutes: number) => new Date(Date.parse(at) + minutes * 60_000).toISOString();

  test.each([
    [{ until: later(60) }, later(60)],
    [{ until: later(-600) }, later(1)],
    [{ until: null }, later(15)],
    [{ until: null, unpaid: true }, null],
  ])('%j', (more, resumeAt) => {
    expect(limitAfter(null, { ...given, ...more })).toMatchObject({ number: 1, resumeAt });
  });

  test('a limit that comes back at once is tried again later each time, and then left to a person', () => {
    for (const until of [null, at] as const) {
      const waits: (number | null)[] = [];
      let limit = limitAfter(null, { ...given, until });
      for (let count = 0; count < 7; count += 1) {
        waits.push(
          limit.resumeAt === null ? null : (Date.parse(limit.resumeAt) - Date.parse(limit.at)) / 60_000,
        );
        const endedAt = limit.resumeAt ?? limit.at;
        limit = limitAfter({ ...limit, endedAt }, { ...given, at: endedAt, until: until && endedAt });
      }
      expect(waits).toEqual(
        until === null ? [15, 60, 240, null, null, null, null] : [1, 2, 4, 8, 16, null, null],
      );
    }
    const old = { ...limitAfter(null, { ...given, until: null }), endedAt: later(20) };
    expect(limitAfter(old, { ...given, until: null, at: later(60) })).toMatchObject({ number: 1 });
  });

  test('it is over at its time, and by a clock that was set back more than a month', () => {
    const limit = limitAfter(null, { ...given, until: later(60) });
    const over = (time: string) => isLimitOver(limit, new Date(time));
    expect([over(later(59)), over(later(60)), over('1970-01-01T00:00:00Z'), over(later(-60))]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isLimitOver({ ...limit, resumeAt: null }, new Date(later(999_999)))).toBe(false);
  });
});
