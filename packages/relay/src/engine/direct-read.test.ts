// Batched direct reads, as servers from 2.11 on answer them. The server here is older, so the answers are
// given by the test, in the form that the newer ones publish.
import { headers as createHeaders, type Msg } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { natsForTest } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkOf } from '../protocol/position.ts';
import { openConnection } from './connection.ts';
import { createDirectReads } from './direct-read.ts';
import { firstPace } from './page-by-probes.ts';
import { createReplyInbox } from './reply-inbox.ts';

type Query = { seq: number; next_by_subj: string; batch: number; max_bytes: number };

async function batchingServer(sequences: number[], perBatch: number) {
  const { url } = await natsForTest();
  const server = await connect({ servers: url });
  onTestFinished(() => server.close());
  const queries: Query[] = [];
  server.subscribe('$JS.API.DIRECT.GET.standin', {
    callback(_, message) {
      const query: Query = message.json();
      queries.push(query);
      const found = sequences.filter((seq) => seq >= query.seq);
      if (found.length === 0) return status(message, 404, 'Message Not Found', {});
      const sent = found.slice(0, perBatch);
      for (const seq of sent) {
        const headers = createHeaders();
        headers.set('Nats-Stream', 'standin');
        headers.set('Nats-Subject', query.next_by_subj);
        headers.set('Nats-Msg-Id', `id ${seq}`);
        headers.set('Nats-Sequence', String(seq));
        headers.set('Nats-Num-Pending', String(found.length - 1));
        message.respond(Buffer.from(`body ${seq}`), { headers });
      }
      status(message, 204, 'EOB', { 'Nats-Num-Pending': String(found.length - sent.length) });
    },
  });
  await server.flush();
  const connection = await openConnection({ servers: [url] }, 'test');
  onTestFinished(() => connection.close());
  return { reads: createDirectReads(createReplyInbox(connection), true), queries };
}

function status(message: Msg, code: number, description: string, fields: Record<string, string>): void {
  const headers = createHeaders(code, description);
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  message.respond(new Uint8Array(0), { headers });
}

test('a page is one request; the message at the cursor shows that nothing was trimmed', async () => {
  const { reads, queries } = await batchingServer([4, 7, 9, 20], 3);
  const first = await reads.page('standin', 'in.0.one', 4, firstPace());
  expect(first.messages.map(({ seq, data }) => [seq, Buffer.from(data).toString()])).toEqual([
    [7, 'body 7'],
    [9, 'body 9'],
  ]);
  expect(first).toMatchObject({ anchor: checkOf('id 4'), end: false });
  expect(await reads.page('standin', 'in.0.one', 9, firstPace())).toMatchObject({
    anchor: checkOf('id 9'),
    end: true,
  });
  expect(await reads.page('standin', 'in.0.one', 21, firstPace())).toEqual({
    anchor: null,
    messages: [],
    end: true,
  });
  expect(await reads.page('standin', 'in.0.one', 5, firstPace())).toMatchObject({ anchor: null });
  expect(queries).toHaveLength(4);
  expect(queries[0]).toEqual({ seq: 4, next_by_subj: 'in.0.one', batch: 256, max_bytes: 2 * 1024 * 1024 });
});

test('a page that nobody answers fails, and can be asked for again', async () => {
  const { reads } = await batchingServer([], 1);
  await expect(reads.page('other', 'in.0.one', 0, firstPace())).rejects.toMatchObject({
    code: 'engine-unavailable',
  });
});
