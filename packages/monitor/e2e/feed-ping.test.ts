// `svc feeds ping`: our own delivery through the relay and back, with a whole daemon.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { startHostileRelay, until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { covered, feedWorld } from './feed-world.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';

const isLive = async (daemon: InProcessDaemon) => {
  const { body } = await daemon.get('/api/feeds');
  return (body['tunnels'] as { grade: string }[])[0]?.grade === 'live';
};

test('a ping goes through the relay and back, is measured, and is not an event; a disabled feed reports that', async () => {
  const { start, svc } = await feedWorld();
  const daemon = await start();
  await until(() => covered(daemon));
  const before = daemon.lines().length;
  const { code, printed } = await svc('feeds', 'ping', '--json');
  expect(JSON.parse(printed)).toEqual([
    { feed: 'codehost', ok: true, milliseconds: expect.any(Number) },
    {
      feed: 'tracker',
      ok: false,
      disabled: true,
      why: 'no relay channel is configured',
      remedy: 'Run: svc setup-webhooks --linear-register',
    },
  ]);
  expect(code).toBe(0);
  const shown = await svc('feeds', 'ping');
  expect(shown.printed).toMatch(/codehost +arrived +[\d.]+ ms/);
  expect(shown.printed).toMatch(/tracker +disabled +no relay channel is configured/);
  expect(daemon.lines()).toHaveLength(before);
  const { body } = await daemon.get('/api/feeds');
  expect(body['tunnels']).toMatchObject([{ deliveries: { selfTest: 2 } }, {}]);
});

test('on a shared channel each feed is pinged with its own signature', async () => {
  const { channel, write, start } = await feedWorld();
  write('.config/svc/config.json', {
    svc: { monitor: { github: { smeeChannel: channel }, linear: { smeeChannel: channel } } },
  });
  const daemon = await start({ SVC_TRACKER_WEBHOOK_SECRET: 'd'.repeat(64) });
  await until(() => isLive(daemon));
  const { body } = await daemon.post('/api/feeds/ping', '{}', { 'Content-Type': 'application/json' });
  expect(body['feeds']).toMatchObject([
    { feed: 'codehost', ok: true },
    { feed: 'tracker', ok: true },
  ]);
});

/** A wait of this length ends as soon as a post to this address has its response. */
function overOnceAnswered(milliseconds: number, url: string): void {
  const over = new AbortController();
  const inReality = AbortSignal.timeout.bind(AbortSignal);
  const timeout = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((asked) => (asked === milliseconds ? over.signal : inReality(asked)));
  const onAnswer = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    if (request.method === 'POST' && url.endsWith(request.path)) setImmediate(() => over.abort());
  };
  subscribe('http.client.response.finish', onAnswer);
  onTestFinished(() => {
    unsubscribe('http.client.response.finish', onAnswer);
    timeout.mockRestore();
  });
}

test('a relay that accepts the ping and drops it is detected within the timeout', async () => {
  const { useChannel, start, svc } = await feedWorld();
  const relay = await startHostileRelay({ pingMs: 500, faults: { drop: 1 } });
  onTestFinished(relay.stop);
  const channel = relay.newChannel();
  useChannel(channel);
  const daemon = await start();
  await until(() => isLive(daemon));
  overOnceAnswered(59_000, channel);
  const { code, printed } = await svc('feeds', 'ping', '--timeout', '59s');
  expect(code).toBe(1);
  expect(printed).toContain('the relay accepted it but did not deliver it within 59 s');
  expect(printed).toContain('svc feeds check --repair');
});

test('a feed that is not connected is not pinged: the reason is known', async () => {
  const { relay, start, svc } = await feedWorld();
  const daemon = await start();
  await until(() => isLive(daemon));
  await relay.stop();
  // The grade changes later; the connection is gone immediately.
  await until(async () => {
    const { body } = await daemon.get('/api/feeds');
    return (body['tunnels'] as { connectedSince: number | null }[])[0]?.connectedSince === null;
  });
  const { code, printed } = await svc('feeds', 'ping', '--timeout', '1s');
  expect(code).toBe(1);
  expect(printed).toMatch(/codehost +failed +the feed is (connecting|backing-off)/);
});

test.each([['{"timeout":"61s"}'], ['{"timeout":"0s"}'], ['{"timeout":5}'], ['{"time":"1s"}']])(
  'POST /api/feeds/ping refuses %s',
  async (body) => {
    const daemon = await startInProcess();
    expect((await daemon.post('/api/feeds/ping', body, { 'Content-Type': 'application/json' })).status).toBe(
      400,
    );
  },
);
