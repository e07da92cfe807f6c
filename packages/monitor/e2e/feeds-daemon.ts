// A daemon of which only the report of its feeds is known: it holds the data root, and no event ever comes.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ReportedFeeds } from '../src/features/feeds/judge-feeds.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';

type Tunnel = ReportedFeeds['tunnels'][number];

export function reportedTunnel(feed: 'codehost' | 'tracker', more: Partial<Tunnel>): Tunnel {
  return {
    feeds: [feed],
    grade: 'live',
    since: null,
    code: null,
    why: null,
    remedy: null,
    lastPingAt: null,
    lastMessageAt: null,
    unauthorisedLastHour: { exact: 0, reserialised: 0 },
    ...more,
  };
}

export const blindCodehost = reportedTunnel('codehost', {
  grade: 'blind',
  why: 'no ping for 95 s',
  remedy: 'svc feeds',
});

/** `feeds` may be changed while it runs; without a change everything works. `looks` counts how often it was asked for. */
export async function feedsDaemon(
  home: string,
  more: Partial<ReportedFeeds>,
): Promise<{ feeds: ReportedFeeds; looks: () => number }> {
  let looks = 0;
  const feeds: ReportedFeeds = {
    tunnels: [reportedTunnel('codehost', {}), reportedTunnel('tracker', {})],
    repos: [],
    codehost: { state: 'polling', code: null, lastAt: null, why: null, remedy: null, clock: null },
    tracker: { state: 'polling', teams: [] },
    ...more,
  };
  const startedAt = new Date().toISOString();
  const identity = { instance: crypto.randomUUID(), pid: process.pid, version: '1.2.3', startedAt };
  const place = { port: 0, url: '' };
  const answers = (path: string): unknown => {
    if (path.startsWith('/api/feeds')) {
      looks += 1;
      return feeds;
    }
    if (path.startsWith('/api/events')) return { events: [], next: null };
    return { ...identity, ...place, log: { lastSeq: 0 } };
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.startsWith('/api/events/stream')) return response.writeHead(200).flushHeaders();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answers(path)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  place.port = (server.address() as AddressInfo).port;
  place.url = `http://127.0.0.1:${place.port}`;
  mkdirSync(join(home, 'svc'), { recursive: true });
  const claimed = claimInstance(join(home, 'svc'));
  await claimed?.announce({ state: 'running', ...identity, ...place });
  onTestFinished(() => {
    claimed?.withdraw();
    server.closeAllConnections();
    server.close();
  });
  return { feeds, looks: () => looks };
}
