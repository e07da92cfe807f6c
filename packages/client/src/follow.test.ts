import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../testkit/src/waiting.ts';
import { createClient } from './client.ts';

/** One script per connection, in order; the last one stays open. */
async function streams(...scripts: ((response: ServerResponse) => void)[]) {
  const asked: { url: string | undefined; after: unknown }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    asked.push({ url: request.url, after: request.headers['last-event-id'] });
    const script = scripts[asked.length - 1];
    if (script === undefined) return void response.writeHead(503).end('{}');
    script(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const open = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
};
const line = (seq: number): string =>
  `id: ${seq}\ndata: ${JSON.stringify({ seq, event: 'codehost.push' })}\n\n`;

/** Splits the response into pieces of a few bytes. */
const inPieces: typeof fetch = async (...asked) => {
  const response = await fetch(...asked);
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      for (let at = 0; at < chunk.length; at += 7) out.enqueue(chunk.slice(at, at + 7));
    },
  });
  return new Response(response.body?.pipeThrough(pieces), response);
};

test('events arrive in order and without a gap, over lost connections and a missing daemon', async () => {
  const seen: number[] = [];
  const { url, asked } = await streams(
    (response) => {
      open(response);
      response.write('event: ready\ndata: {"after":4}\n\n: keep-alive\n\n');
      response.end();
    },
    (response) => {
      open(response);
      response.write(line(5) + line(6));
      void until(() => seen.length === 2).then(() => response.destroy());
    },
    (response) => void response.writeHead(503).end('{"error":"busy","code":"busy"}'),
    (response) => {
      open(response);
      response.write(`${line(7)}event: position\nid: 900\ndata: {}\n\n${line(901)}`);
    },
  );
  for await (const { seq } of createClient(url, { fetch: inPieces }).follow({
    query: { event: 'codehost.*' },
  })) {
    seen.push(seq);
    if (seen.length === 4) break;
  }
  expect(seen).toEqual([5, 6, 7, 901]);
  expect(asked.map(({ after }) => after)).toEqual([undefined, '4', '6', '6']);
  expect(asked[0]?.url).toBe('/api/events/stream?event=codehost.*');
});

test('a refused filter ends it with the reason', async () => {
  const { url } = await streams((response) => {
    response.writeHead(400, { 'Content-Type': 'application/json' });
    response.end('{"error":"filter: not jq.","code":"usage"}');
  });
  const lines = createClient(url).follow({ query: { filter: '.[' } });
  await expect(lines.next()).rejects.toMatchObject({
    code: 'usage',
    status: 400,
    message: 'filter: not jq.',
  });
});

test('a filter that fails later ends it too', async () => {
  const { url } = await streams((response) => {
    open(response);
    response.end('event: filter-failed\ndata: {"error":"It takes too long.","code":"filter-too-slow"}\n\n');
  });
  await expect(createClient(url).follow().next()).rejects.toMatchObject({ code: 'filter-too-slow' });
});

test('it ends with its signal, connected or waiting', async () => {
  const { url } = await streams((response) => {
    open(response);
    response.write(line(1));
  });
  const stop = new AbortController();
  const lines = createClient(url).follow({ signal: stop.signal });
  expect((await lines.next()).value).toMatchObject({ seq: 1 });
  const next = lines.next();
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });

  const stopWaiting = new AbortController();
  let failed = 0;
  const noDaemon: typeof fetch = (...asked) => fetch(...asked).finally(() => (failed += 1));
  const away = createClient('http://127.0.0.1:9', { fetch: noDaemon }).follow({
    signal: stopWaiting.signal,
  });
  const never = away.next();
  await until(() => failed > 0);
  stopWaiting.abort();
  expect(await never).toEqual({ done: true, value: undefined });
});
