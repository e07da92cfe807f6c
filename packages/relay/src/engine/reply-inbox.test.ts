// When a server is doubted, asked again, and given up: by a clock that the test moves.
import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { until } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { createPublisher } from './publisher.ts';
import { createReplyInbox } from './reply-inbox.ts';

/** Connected to a server that takes everything and says nothing. */
function setUp() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = { whetherItLives: 0, toReconnect: 0 };
  const answers: ((error: null, message: Partial<Msg>) => void)[] = [];
  const written: string[] = [];
  const nats = {
    subscribe: (_: string, { callback }: { callback: (typeof answers)[number] }) => answers.push(callback),
    isClosed: () => false,
    flush() {
      asked.whetherItLives += 1;
      return new Promise<void>(() => undefined);
    },
    async reconnect() {
      asked.toReconnect += 1;
    },
  } as unknown as NatsConnection;
  const connection: Connection = {
    nats,
    write: (bytes) => void written.push(bytes.toString()),
    state: () => ({ connected: true, server: 'silent', since: 0, reason: null }),
    onChange: () => undefined,
    close: async () => undefined,
  };
  const inbox = createReplyInbox(connection);
  onTestFinished(() => inbox.close());
  const answer = (subject: string): void => answers[0]?.(null, { subject });
  return { asked, written, answer, inbox, publisher: createPublisher(connection, inbox) };
}

const message = { subject: 'x', payload: Buffer.from('x'), messageId: 'a' };

test('a server from which nothing comes is asked whether it lives, and then left', async () => {
  const { asked, publisher } = setUp();
  publisher.publish({ ...message, deadlineMs: 60_000 }).catch(() => undefined);
  vi.advanceTimersByTime(1_480);
  expect(asked).toEqual({ whetherItLives: 0, toReconnect: 0 });
  vi.advanceTimersByTime(80);
  expect(asked).toEqual({ whetherItLives: 1, toReconnect: 0 });
  vi.useRealTimers();
  await until(() => asked.toReconnect === 1);
  expect(asked).toEqual({ whetherItLives: 1, toReconnect: 1 });
});

test('a publish that nobody acknowledges fails at its deadline, not before and not after', async () => {
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

test('a question is asked again until somebody answers, or the time is over', async () => {
  const { inbox, written, answer } = setUp();
  const waitFor = async (milliseconds: number): Promise<void> => {
    vi.advanceTimersByTime(milliseconds);
    await new Promise(setImmediate);
  };
  /** The subject to which each answer is to come. */
  const questions = (): string[] => written.join('').match(/(?<=^PUB read )\S+/gm) ?? [];
  const answered = inbox.request('read', '{}', 2_000, 240);
  await waitFor(200);
  expect(questions()).toHaveLength(1);
  await waitFor(280);
  expect(questions()).toHaveLength(3);
  const [reply = ''] = questions();
  expect(new Set(questions())).toEqual(new Set([reply]));
  answer(reply);
  expect(await answered).toMatchObject({ subject: reply });
  await waitFor(2_000);
  expect(questions()).toHaveLength(3);

  const unanswered = inbox.request('read', '{}', 1_000, 400);
  await waitFor(1_000);
  expect(await unanswered).toBeUndefined();
  expect(questions()).toHaveLength(3 + 3);
  expect(inbox.waiting()).toBe(0);
});
