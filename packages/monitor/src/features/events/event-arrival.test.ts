import { describe, expect, test } from 'vitest';
import type { Topic } from '../../kernel/log/topics.ts';
import type { ReportedFeeds } from '../feeds/judge-feeds.ts';
import { topics } from '../topics.ts';
import { arrivalObstacle } from './event-arrival.ts';

type Tunnel = ReportedFeeds['tunnels'][number];
const noTrouble = { code: null, why: null, remedy: null };
const figures = {
  since: null,
  lastPingAt: null,
  lastMessageAt: null,
  unauthorisedLastHour: { exact: 0, reserialised: 0 },
};
const tunnel = (grade: Tunnel['grade'], more: Partial<Tunnel> = {}): Tunnel => ({
  feeds: ['codehost'],
  ...figures,
  ...noTrouble,
  ...more,
  grade,
});
const off = tunnel('disabled', { why: 'no relay channel is configured', remedy: 'Run: svc setup-webhooks' });
const trackerOff: Tunnel = { ...off, feeds: ['tracker'] };
const codehost = (
  state: ReportedFeeds['codehost']['state'],
  why: string | null = null,
  remedy: string | null = null,
) => ({
  ...noTrouble,
  state,
  why,
  remedy,
  lastAt: null,
  clock: null,
});
const loggedOut = codehost('failing', 'gh is not logged in', 'Run: gh auth login');
const team = (name: string, error: string | null = null) => ({
  team: name,
  error,
  remedy: error === null ? null : 'Set the token',
  lastAt: null,
});
const web = { repo: 'acme/web', by: 'polling' as const, since: '2026-01-01T00:00:00Z', ...noTrouble };
const reported = (more: Partial<ReportedFeeds>): ReportedFeeds => ({
  tunnels: [off, trackerOff],
  repos: [web],
  codehost: codehost('polling'),
  tracker: { state: 'disabled', why: 'no project has a token', remedy: 'Set one', teams: [] },
  ...more,
});

const MERGED = ['codehost.pr.merged'] as const;
const PUSH = ['codehost.push'] as const;
const MOVED = ['tracker.issue.state_changed'] as const;
const COMMENT = ['tracker.comment.created'] as const;
const LOCAL = ['orchestrator.worker.status_changed'] as const;

/** The reason, or what can bring the event. */
const table: [name: string, Partial<ReportedFeeds>, readonly Topic[], can: boolean, repo?: string][] = [
  ['the feed is live', { tunnels: [tunnel('live')] }, PUSH, true],
  ['the feed is connecting', { tunnels: [tunnel('connecting')] }, PUSH, true],
  ['the feed is late', { tunnels: [tunnel('late', { code: 'late' })] }, PUSH, true],
  ['the connection keeps breaking', { tunnels: [tunnel('degraded', { code: 'unstable' })] }, PUSH, true],
  ['signatures fail', { tunnels: [tunnel('degraded', { code: 'auth-failing' })] }, PUSH, false],
  [
    'signatures fail, but polling finds it',
    { tunnels: [tunnel('degraded', { code: 'auth-failing' })] },
    MERGED,
    true,
  ],
  ['the disk is full', { tunnels: [tunnel('degraded', { code: 'deliveries-waiting' })] }, PUSH, false],
  ['the feed is blind', { tunnels: [tunnel('blind')] }, PUSH, false],
  ['the feed is blind, even if polling works', { tunnels: [tunnel('blind')] }, MERGED, false],
  [
    'another feed is blind',
    { tunnels: [tunnel('live'), tunnel('blind', { feeds: ['tracker'] })] },
    PUSH,
    true,
  ],
  [
    'a feed of both is blind',
    { tunnels: [tunnel('blind', { feeds: ['codehost', 'tracker'] })] },
    COMMENT,
    false,
  ],
  ['the feed is off, and polling finds it', {}, MERGED, true],
  [
    'the feed is off, and polling begins',
    { codehost: codehost('starting'), repos: [] },
    MERGED,
    true,
    'acme/web',
  ],
  ['the feed is off, and polling does not find it', {}, PUSH, false],
  ['the feed is off, and gh is logged out', { codehost: loggedOut }, MERGED, false],
  ['the feed is off, and nothing is watched', { codehost: codehost('disabled'), repos: [] }, MERGED, false],
  ['the feed is off, and the repository is watched', {}, MERGED, true, 'Acme/Web'],
  ['the feed is off, and the repository is not watched', {}, MERGED, false, 'acme/api'],
  [
    'the feed is live, and the repository is not watched',
    { tunnels: [tunnel('live')] },
    MERGED,
    true,
    'acme/api',
  ],
  [
    'gh is logged out, but the feed is live',
    { tunnels: [tunnel('live')], codehost: loggedOut },
    MERGED,
    true,
  ],
  ['the tracker is not set up', {}, MOVED, false],
  ['the tracker is polled', { tracker: { state: 'polling', teams: [team('ENG')] } }, MOVED, true],
  [
    'the tracker is polled, but not for this',
    { tracker: { state: 'polling', teams: [team('ENG')] } },
    COMMENT,
    false,
  ],
  ['the tracker refuses', { tracker: { state: 'failing', teams: [team('ENG', 'no access')] } }, MOVED, false],
  [
    'one of two teams can be polled',
    { tracker: { state: 'failing', teams: [team('ENG', 'no access'), team('OPS')] } },
    MOVED,
    true,
  ],
  [
    'tickets are issues, and the code host delivers them',
    { tunnels: [tunnel('live')], tracker: { state: 'polling', teams: [team('acme/web')] } },
    COMMENT,
    true,
  ],
  ['the tracker’s feed is live', { tunnels: [off, tunnel('live', { feeds: ['tracker'] })] }, COMMENT, true],
  ['it is an event of our own', { codehost: loggedOut }, LOCAL, true],
  ['one of its topics can arrive', {}, [...PUSH, ...MERGED], true],
  ['none of its topics can arrive', { codehost: loggedOut }, [...PUSH, ...MERGED, ...MOVED], false],
  ['any event will do', { codehost: loggedOut }, topics.names, true],
  ['any event will do, and a feed is blind', { tunnels: [tunnel('blind')] }, topics.names, false],
];

test.each(table)('%s', (_name, report, awaited, can, repo) => {
  const obstacle = arrivalObstacle(reported(report), { topics: awaited, repo });
  expect(obstacle === undefined).toBe(can);
});

describe('the reason', () => {
  test.each<[Partial<ReportedFeeds>, readonly Topic[], string, string | null, string?]>([
    [
      { tunnels: [tunnel('blind', { why: 'no ping for 95 s', remedy: 'svc feeds' })] },
      PUSH,
      'The codehost feed is blind: no ping for 95 s',
      'svc feeds',
    ],
    [
      { codehost: loggedOut },
      MERGED,
      'No feed delivers this event of the code host: the codehost feed is off (no relay channel is configured), and the code host cannot be polled (gh is not logged in)',
      'Run: gh auth login',
    ],
    [
      {},
      PUSH,
      'No feed delivers this event of the code host: the codehost feed is off (no relay channel is configured), and polling does not find codehost.push',
      'Run: svc setup-webhooks',
    ],
    [
      {},
      MERGED,
      'No feed delivers this event of the code host: the codehost feed is off (no relay channel is configured), and acme/api is not watched',
      'Run: svc setup-webhooks --add-repo acme/api',
      'acme/api',
    ],
    [
      { tracker: { state: 'failing', teams: [team('ENG', 'no access')] } },
      MOVED,
      'No feed delivers this event of the tracker: the tracker feed is off (no relay channel is configured), and the tracker cannot be polled (no access)',
      'Set the token',
    ],
  ])('%#', (report, awaited, why, remedy, repo) => {
    expect(arrivalObstacle(reported(report), { topics: awaited, repo })).toEqual({ why, remedy });
  });
});

test('every topic is one of a service or our own', () => {
  const nothing = reported({ codehost: codehost('disabled'), repos: [] });
  const unreachable = topics.names.filter(
    (topic) => arrivalObstacle(nothing, { topics: [topic] }) !== undefined,
  );
  expect(unreachable).toEqual([...topics.matching('codehost.*'), ...topics.matching('tracker.*')]);
});
