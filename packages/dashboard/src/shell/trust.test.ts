import { describe, expect, test } from 'vitest';
import { type HealthReport, trustLineAt, trustParts } from './trust.ts';

const live = { state: 'live' };
const health = (given: Partial<HealthReport> = {}): HealthReport => ({
  status: 'ok',
  version: '0.1.0',
  now: '',
  startedAt: '',
  configuration: { folders: [], problems: [] },
  log: live,
  sources: {
    tunnels: [{ grade: 'live', feeds: ['codehost'] }],
    codehost: { state: 'polling' },
    tracker: { state: 'polling' },
  },
  ...given,
});
const lineOf = (given: Partial<HealthReport>) => trustLineAt(trustParts(health(given)), { isPast: false });
const tunnels = (...grades: string[]) => ({
  sources: {
    tunnels: grades.map((grade, index) => ({
      grade,
      feeds: [index === 0 ? 'codehost' : 'tracker'],
      why: grade === 'live' ? null : 'the relay does not answer',
    })),
    codehost: { state: 'polling' },
    tracker: { state: 'disabled' },
  },
});

describe('the line', () => {
  test.each<[string, Partial<HealthReport>, string, string]>([
    ['all well', {}, 'proven', 'Everything is live'],
    ['one feed off', tunnels('live', 'disabled'), 'proven', 'Live (tracker feed, tracker polling are off)'],
    [
      'backends that are not configured',
      { telemetry: { metrics: { state: 'disabled' }, logs: { state: 'disabled' } } },
      'proven',
      'Everything is live',
    ],
    ['blind', tunnels('blind', 'disabled'), 'broken', 'Code host feed is blind: the relay does not answer'],
    [
      'two wrong, the worst first',
      tunnels('late', 'blind'),
      'broken',
      'Tracker feed is blind: the relay does not answer, and 1 more',
    ],
    [
      'polling fails',
      { sources: { ...tunnels('live').sources, codehost: { state: 'failing' } } },
      'broken',
      'Code host polling is failing',
    ],
    ['connecting', tunnels('connecting'), 'motion', 'Connecting: code host feed'],
    ['an unknown state', { log: { state: 'new word' } }, 'unknown', 'Event log is new word'],
    ['a plural', { signals: { state: 'degraded' } }, 'broken', 'Status files are degraded'],
    [
      'rejected facts',
      { spool: { rejected: 2, why: '2 facts were rejected' } },
      'broken',
      'Spool is degraded: 2 facts were rejected',
    ],
  ])('%s', (_what, given, meaning, words) => expect(lineOf(given)).toEqual({ meaning, words }));
});

describe('the parts', () => {
  const names = (given: Partial<HealthReport>) => trustParts(health(given)).map(({ name }) => name);
  test('a component that is not reported is not shown, nor is an empty spool', () => {
    expect(names({ spool: { rejected: 0 } })).toEqual([
      'Code host feed',
      'Code host polling',
      'Tracker polling',
      'Event log',
    ]);
  });
  test('a repository without a webhook is listed if there is a reason for it', () => {
    const repos = [
      { repo: 'acme/web', by: 'webhook' },
      { repo: 'acme/api', by: 'polling', why: null },
      { repo: 'acme/old', by: 'polling', why: 'you are not an administrator of it' },
    ];
    const found = trustParts(health({ sources: { ...tunnels('live').sources, repos } }));
    expect(found[0]).toMatchObject({ name: 'acme/old', state: 'polled', meaning: 'you' });
    expect(found.some(({ name }) => name === 'acme/api')).toBe(false);
  });
  test('a configuration problem has its own state and fix; a deprecated name is no problem', () => {
    const problem = (severity: 'error' | 'ignored' | 'deprecated') => {
      return {
        severity,
        file: '/app/.svc/config.json',
        text: `${severity} key`,
        remedy: 'svc config explain',
      };
    };
    const problems = [problem('deprecated'), problem('ignored'), problem('error')];
    const found = trustParts(health({ configuration: { folders: [], problems } }));
    expect(found.filter(({ name }) => name === 'Configuration')).toMatchObject([
      { state: 'degraded', meaning: 'broken', why: 'error key', remedy: 'svc config explain' },
      { state: 'ignored', meaning: 'you', why: 'ignored key' },
    ]);
  });
  test('a receiver with an unusable secret is listed, one without a secret is not', () => {
    const feeds = { codehost: { receiver: 'degraded', why: 'too short' }, tracker: { receiver: 'disabled' } };
    const [first, ...others] = trustParts(health({ feeds }));
    expect(first).toMatchObject({ name: 'Code host deliveries', meaning: 'broken', why: 'too short' });
    expect(others.some(({ name }) => name === 'Tracker deliveries')).toBe(false);
  });
});

test('above a past board it says so, whatever else it says', () => {
  const past = (given: Partial<HealthReport>) => trustLineAt(trustParts(health(given)), { isPast: true });
  expect(past({})).toEqual({ meaning: 'unknown', words: 'This board is not live' });
  const runs = { state: 'degraded', why: 'no disk' };
  expect(past({ runs })).toEqual({
    meaning: lineOf({ runs }).meaning,
    words: 'This board is not live. Runs are degraded: no disk',
  });
});
