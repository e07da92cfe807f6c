// When a message is sent again, and given up: by a clock that the test moves.
import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { createPublisher } from './publisher.ts';

/** Connected to a server that accepts everything and answers nothing. */
function setUp() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const seen = { checks: 0, replies: [] as string[] };
  let callback = (_: null, __: Partial<Msg>): void => undefined;
  const nats = {
    subscribe(_: string, options: { callback: typeof callback }) {
      callback = options.callback;
    },
    isClosed: () => false,
    publish: (_: string, __: Uint8Array, { reply }: { reply: string }) => void seen.replies.push(reply),
  } as unknown as NatsConnection;
  const connection: Connection = {
    nats,
    state: () => ({ connected: true, server: 'silent', since: 0, reason: null }),
    onChange: () => undefined,
    checkAlive: async () => void (seen.checks += 1),
    close: async () => undefined,
  };
  const publisher = createPublisher(connection);
  onTestFinished(() => publisher.close());
  const answer = (value: object): void => {
    const data = Buffer.from(JSON.stringify(value));
    const subject = seen.replies[0] ?? '';
    callback(null, { subject, data, json: () => value as never });
  };
  return { seen, answer, publisher };
}

/** Messages are sent at the end of the turn of the event loop. */
async function passes(milliseconds: number): Promise<void> {
  await new Promise(setImmediate);
  vi.advanceTimersByTime(milliseconds);
  await new Promise(setImmediate);
}

const message = { subject: 'x', payload: Buffer.from('x'), messageId: 'a' };

test('a connection that stays silent is checked', () => {
  const { seen, publisher } = setUp();
  publisher.publish({ ...message, deadlineMs: 60_000 }).catch(() => undefined);
  vi.advanceTimersByTime(1_480);
  expect(seen.checks).toBe(0);
  vi.advanceTimersByTime(80);
  expect(seen.checks).toBeGreaterThan(0);
});

test('a publish without an acknowledgement fails at its deadline, not before and not after', async () => {
  const { publisher } = setUp();
  let failure: unknown;
  publisher.publish({ ...message, deadlineMs: 720 }).catch((error: unknown) => (failure = error));
  vi.advanceTimersByTime(719);
  await new Promise(setImmediate);
  expect(failure).toBeUndefined();
  vi.advanceTimersByTime(1);
  await new Promise(setImmediate);
  expect(failure).toMatchObject({ code: 'engine-unavailable' });
});

test('sent again after a second; while a copy is in process it waits, and sends less and less often', async () => {
  const { seen, answer, publisher } = setUp();
  const published = publisher.publish({ ...message, deadlineMs: 60_000 });
  await passes(1_040);
  expect(seen.replies).toHaveLength(2);
  const inProcess = {
    error: { code: 409, err_code: 10158, description: 'duplicate message id is in process' },
  };
  answer(inProcess);
  await passes(1_900);
  expect(seen.replies).toHaveLength(2);
  await passes(140);
  expect(seen.replies).toHaveLength(3);
  answer(inProcess);
  await passes(3_900);
  expect(seen.replies).toHaveLength(3);
  // All copies have the same reply subject, so the acknowledgement of the first counts.
  expect(new Set(seen.replies).size).toBe(1);
  answer({ stream: 's', seq: 7 });
  expect(await published).toEqual({ seq: 7, duplicate: false });
  expect(publisher.underWay()).toBe(0);
});
