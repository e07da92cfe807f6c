import { describe, expect, test } from 'vitest';
import { type HealthReport, trustLine, trustParts } from './trust.ts';

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
const lineOf = (given: Partial<HealthReport>) => trustLine(trustParts(health(given)));
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
    [
      'one feed off',
      tunnels('live', 'disabled'),
      'proven',
      'Live. Switched off: Tracker feed, Tracker by timer',
    ],
    ['blind', tunnels('blind', 'disabled'), 'broken', 'Code host feed is blind: the relay does not answer'],
    [
      'two wrong, the worst first',
      tunnels('late', 'blind'),
      'broken',
      'Tracker feed is blind: the relay does not answer, and 1 more',
    ],
    [
      'asking fails',
      { sources: { ...tunnels('live').sources, codehost: { state: 'failing' } } },
      'broken',
      'Code host by timer is failing',
    ],
    ['connecting', tunnels('connecting'), 'motion', 'Connecting: Code host feed'],
    ['a state that nobody knows', { log: { state: 'new word' } }, 'unknown', 'Event log is new word'],
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
  test('what is not reported is not shown, and an empty spool neither', () => {
    expect(names({ spool: { rejected: 0 } })).toEqual([
      'Code host feed',
      'Code host by timer',
      'Tracker by timer',
      'Event log',
    ]);
  });
  test('a repository without a webhook is named when something stands in the way', () => {
    const repos = [
      { repo: 'acme/web', by: 'webhook' },
      { repo: 'acme/api', by: 'polling', why: null },
      { repo: 'acme/old', by: 'polling', why: 'nobody of us is its administrator' },
    ];
    const found = trustParts(health({ sources: { ...tunnels('live').sources, repos } }));
    expect(found[0]).toMatchObject({ name: 'acme/old', state: 'polled', meaning: 'you' });
    expect(found.some(({ name }) => name === 'acme/api')).toBe(false);
  });
  test('a problem of the configuration has its own grade and remedy; a deprecated name works', () => {
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
  test('a receiver whose secret cannot be used is named, one without a secret is not', () => {
    const feeds = { codehost: { receiver: 'degraded', why: 'too short' }, tracker: { receiver: 'disabled' } };
    const [first, ...others] = trustParts(health({ feeds }));
    expect(first).toMatchObject({ name: 'Code host deliveries', meaning: 'broken', why: 'too short' });
    expect(others.some(({ name }) => name === 'Tracker deliveries')).toBe(false);
  });
});
