// Pages of a subject, read from a real server.
import { connect } from '@nats-io/transport-node';
import { natsForTest, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkOf } from '../protocol/frame.ts';
import { openConnection } from './connection.ts';
import { createPublisher } from './publisher.ts';
import { createStore } from './store.ts';

async function setUp() {
  const { url } = await natsForTest();
  const client = await connect({ servers: url });
  const config = { name: 's', subjects: ['in.*'], allow_direct: true };
  await client.request('$JS.API.STREAM.CREATE.s', JSON.stringify(config), { timeout: WAIT_MS });
  await client.close();
  const connection = await openConnection({ servers: [url] }, 'test');
  onTestFinished(() => connection.close());
  const publisher = createPublisher(connection);
  onTestFinished(() => publisher.close());
  const store = (subject: string, text: string) =>
    publisher.publish({
      subject,
      payload: Buffer.from(text),
      messageId: `${subject} ${text}`,
      deadlineMs: WAIT_MS,
    });
  return { reads: await createStore(connection), store };
}

test('a page contains what follows a sequence, and shows whether the message at it still exists', async () => {
  const { reads, store } = await setUp();
  for (const text of ['a', 'b', 'c']) {
    await store('in.one', text);
    await store('in.other', text);
  }
  const page = await reads.page('s', 'in.one', 1);
  expect(page.messages.map(({ seq, data }) => [seq, Buffer.from(data).toString()])).toEqual([
    [3, 'b'],
    [5, 'c'],
  ]);
  expect(page).toMatchObject({ anchor: checkOf('in.one a'), end: true });
  expect(await reads.page('s', 'in.one', 5)).toEqual({
    anchor: checkOf('in.one c'),
    messages: [],
    end: true,
  });
  expect(await reads.page('s', 'in.one', 2)).toMatchObject({ anchor: null, end: true });
  expect(await reads.page('s', 'in.one', 99)).toEqual({ anchor: null, messages: [], end: true });
  expect(await reads.page('s', 'in.nobody', 0)).toEqual({ anchor: null, messages: [], end: true });
});

test('a page is bounded, and reports that there is more', async () => {
  const { reads, store } = await setUp();
  await Promise.all(Array.from({ length: 300 }, (_, number) => store('in.one', String(number))));
  const first = await reads.page('s', 'in.one', 0);
  expect(first.end).toBe(false);
  expect(first.messages.length).toBeLessThan(300);
  const second = await reads.page('s', 'in.one', first.messages.at(-1)?.seq ?? 0);
  expect(second.end).toBe(true);
  expect(first.messages.length + second.messages.length).toBe(300);
});

test('a page without an answer fails', async () => {
  const { reads } = await setUp();
  await expect(reads.page('other', 'in.one', 0)).rejects.toMatchObject({ code: 'engine-unavailable' });
});
