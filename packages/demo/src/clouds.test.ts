import { createHmac } from 'node:crypto';
import { temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openClouds } from './clouds.ts';
import { openDay } from './day.ts';

const day = openDay({ records: [], now: new Date(), nowIs: 0, pid: process.pid });
const secrets = { codehost: 'one', tracker: 'other' };

async function clouds(arrivesWithinMs: number) {
  const opened = await openClouds({ runsDir: temporaryFolder(), secrets, arrivesWithinMs }, day);
  onTestFinished(opened.close);
  return opened;
}

type Message = { body: object } & Record<string, string>;

/** Reads a channel as the daemon's tunnel does, and calls for each message. */
async function listen(channel: string, onMessage: (message: Message) => void): Promise<void> {
  const { body } = await fetch(channel, { headers: { accept: 'text/event-stream' } });
  if (body === null) throw new Error('the relay has no stream');
  const frames = body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  // The first frame reports that the relay is ready.
  await frames.next();
  void (async () => {
    for (let next = await frames.next(); next.done !== true; next = await frames.next())
      for (const [, data = ''] of next.value.matchAll(/^data: (\{.+\})$/gm)) onMessage(JSON.parse(data));
  })().catch(() => undefined);
}

const lineOf = (deliveryId: string | undefined): EventLine => ({ deliveryId }) as EventLine;

it('signs a delivery, and sends it again until the log has it', async () => {
  const opened = await clouds(WAIT_MS);
  const messages: Message[] = [];
  await listen(opened.channels.codehost, (message) => {
    messages.push(message);
    if (messages.length === 2) opened.saw(lineOf(message['x-codehost-delivery']));
  });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  const sending = opened.deliver({ kind: 'codehost', type: 'push', payload: { ref: 'refs/heads/main' } });
  const endOfFirst = await until(() => timers.mock.calls.find(([, after]) => after === WAIT_MS)?.[0]);
  await until(() => messages.length === 1);
  endOfFirst();
  await sending;
  expect(messages.map((message) => message['x-codehost-event'])).toEqual(['push', 'push']);
  expect(new Set(messages.map((message) => message['x-codehost-delivery'])).size).toBe(1);
  const [first] = messages;
  const signature = createHmac('sha256', secrets.codehost).update(JSON.stringify(first?.body)).digest('hex');
  expect(first?.['x-hub-signature-256']).toBe(`sha256=${signature}`);
});

it('has a separate channel for the tracker', async () => {
  const opened = await clouds(WAIT_MS);
  await listen(opened.channels.tracker, (message) => opened.saw(lineOf(message['tracker-delivery'])));
  await expect(
    opened.deliver({ kind: 'tracker', type: 'Comment', payload: { action: 'update' } }),
  ).resolves.toBeUndefined();
});

it('gives up if no daemon is listening', async () => {
  const opened = await clouds(10);
  await expect(opened.deliver({ kind: 'codehost', type: 'push', payload: {} })).rejects.toThrow(
    'did not reach the daemon',
  );
});
