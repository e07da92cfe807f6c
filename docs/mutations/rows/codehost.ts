// Mutations of the code host: hooks, replay, polling and the tunnel.
import type { Mutation } from '../mutation.ts';

export const codehost: readonly Mutation[] = [
  {
    row: 'TYP-1',
    file: 'packages/core/src/codehost/hook-plan.ts',
    find: '[...codehostEventTypes], channelUrl',
    replace: '[...codehostEventTypes].slice(0, 9), channelUrl',
  },
  {
    row: 'SUB-7',
    file: 'packages/monitor/src/codehost/replay.ts',
    find: '`sha256=${sign(secret, body)}`',
    replace: "`sha256=${sign('', body)}`",
  },
  {
    row: 'SUB-2',
    test: 'packages/monitor/src/codehost/subscribe.test.ts › whose hook has our URL %s gets no second one',
    file: 'packages/core/src/codehost/hook-plan.ts',
    find: 'isSameUrl(config.url, channelUrl));',
    replace: 'config.url === channelUrl);',
  },
  {
    row: 'SUB-5',
    file: 'packages/monitor/src/codehost/subscribe.ts',
    find: 'const running = underWay.get(key) ?? subscribe(repo);',
    replace: 'const running = subscribe(repo);',
  },
  {
    row: 'SUB-6',
    file: 'packages/core/src/codehost/missing-deliveries.ts',
    find: 'export const REPLAY_WINDOW_MS = 3_600_000;',
    replace: 'export const REPLAY_WINDOW_MS = 7_200_000;',
  },
  {
    row: 'AUTH-14',
    test: 'packages/monitor/src/codehost/subscribe.test.ts › gets the new secret after a rotation, once',
    file: 'packages/core/src/codehost/hook-plan.ts',
    find: "['secret', !isOurSecret],",
    replace: "['secret', config.secret === undefined],",
  },
  {
    row: 'ERR-6',
    file: 'packages/monitor/src/codehost/subscribe.ts',
    find: 'if (isNews) warn(',
    replace: 'if (isNews && before !== undefined) warn(',
  },
  {
    row: 'LIM-2',
    test: 'packages/monitor/src/codehost/reconcile.test.ts › a merge that no delivery told is told once, however often it is found',
    file: 'packages/core/src/codehost/poll-differences.ts',
    find: "if (polled.state === 'MERGED') return mergeFindings(polled, known);",
    replace: "if (polled.state === 'MERGED') return known === undefined ? mergeFindings(polled, known) : [];",
  },
  {
    row: 'TUN-1',
    test: 'packages/monitor/src/tunnel/tunnel.test.ts › from idle to live: what it asks for, what it hands on, what it shows',
    file: 'packages/monitor/src/tunnel/session.ts',
    find: "accept: 'text/event-stream',",
    replace: "accept: 'text/html',",
  },
  {
    row: 'TUN-5',
    test: 'packages/monitor/src/codehost/subscribe.test.ts › %s: polled, no call, no warning',
    file: 'packages/monitor/src/codehost/subscribe.ts',
    find: 'return polled(repo, null, null, hold);',
    replace: "return polled(repo, { kind: 'repo-gone', message: 'no channel' }, now());",
  },
  {
    row: 'MRG-5',
    named: '1 required reviews',
    file: 'packages/core/src/setup/merge-findings.ts',
    find: 'const reviews = Math.max(0, ...counts);',
    replace: 'const reviews = Math.min(0, ...counts);',
  },
  {
    row: 'SVC-8',
    file: 'packages/monitor/src/codehost/reconcile.ts',
    find: 'export const RECONCILE_EVERY_MS = 600_000;',
    replace: 'export const RECONCILE_EVERY_MS = 6_000_000;',
  },
  {
    row: 'SUB-8',
    file: 'packages/monitor/src/codehost/replay.ts',
    find: "'x-codehost-delivery': guid,",
    replace: "'x-codehost-delivery': `replay-${guid}`,",
  },
];
