import { feedChannel } from '@svc/core';
import { createManualClock, createScriptedConnect } from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { TunnelDelivery } from './delivery.ts';
import { createTunnels } from './tunnels.ts';

function setUp(codehost: string | undefined, tracker: string | undefined) {
  const clock = createManualClock();
  const relay = createScriptedConnect();
  const received: string[] = [];
  const told: string[] = [];
  const route = (feed: 'codehost' | 'tracker', channel: string | undefined) => ({
    channel: feedChannel({ feed, channel, secretVariables: ['SECRET'], secretIsSet: true }),
    receive({ headers }: TunnelDelivery) {
      received.push(`${feed}: ${Object.keys(headers)[0]}`);
      return Promise.resolve({ status: 200, outcome: 'accepted' });
    },
  });
  const tunnels = createTunnels({
    codehost: route('codehost', codehost),
    tracker: route('tracker', tracker),
    cursorOf: () => null,
    logger: pino({ enabled: false }),
    clock,
    random: () => 0.5,
    connect: relay.connect,
    onState: (feed, { grade }) => void told.push(`${feed} ${grade}`),
    onGap: (feed, { reason }) => void told.push(`${feed} gap: ${reason}`),
  });
  onTestFinished(() => tunnels.stop());
  return { clock, relay, received, told, tunnels };
}

const frame = (header: string): string => `data: {"${header}":"x","body":{}}\n\n`;

test('two channels are two connections', async () => {
  const { tunnels, relay, clock, received, told } = setUp(
    'https://relay.example/a',
    'https://relay.example/b',
  );
  tunnels.start();
  await clock.settle();
  expect(relay.requests.map(({ url }) => url.pathname)).toEqual(['/a', '/b']);
  relay.streams[0]?.say(frame('linear-signature'));
  relay.streams[1]?.say(frame('linear-signature'));
  await clock.settle();
  expect(received).toEqual(['codehost: linear-signature', 'tracker: linear-signature']);
  expect(told).toContain('tracker live');
  expect(tunnels.of('codehost')).not.toBe(tunnels.of('tracker'));
});

test('two feeds on one channel share a connection, and deliveries go where their signature says', async () => {
  const { tunnels, relay, clock, received, told } = setUp(
    'https://relay.example/a',
    'https://Relay.example/a/',
  );
  tunnels.start();
  await clock.settle();
  expect(relay.requests).toHaveLength(1);
  for (const header of ['x-hub-signature-256', 'linear-signature', 'tracker-signature', 'x-none'])
    relay.stream().say(frame(header));
  await clock.settle();
  expect(received).toEqual([
    'codehost: x-hub-signature-256',
    'tracker: linear-signature',
    'tracker: tracker-signature',
    'codehost: x-none',
  ]);
  expect(told).toEqual(expect.arrayContaining(['codehost live', 'tracker live', 'tracker gap: start']));
  expect(tunnels.of('codehost')).toBe(tunnels.of('tracker'));
});

test('a feed without a channel does nothing, and the other works', async () => {
  const { tunnels, relay, clock } = setUp('https://relay.example/a', undefined);
  tunnels.start();
  await clock.settle();
  expect(relay.requests).toHaveLength(1);
  expect(tunnels.of('codehost').state().grade.grade).toBe('live');
  expect(tunnels.of('tracker').state().grade).toMatchObject({
    grade: 'disabled',
    why: 'no relay channel is configured',
    remedy: 'Run: setup-webhooks.sh --linear-register',
  });
});
