import { readFileSync } from 'node:fs';
import { createServer, request as forward, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeLoopbackCertificate, temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Connect,
  createConnect,
  follow,
  type RelayAnswer,
  type RelayRequest,
  wordsForError,
  wordsForStatus,
} from './io/session.ts';

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function request(url: string, headers: Record<string, string> = {}): RelayRequest {
  return {
    url: new URL(url),
    headers: { accept: 'text/event-stream', ...headers },
    signal: AbortSignal.timeout(WAIT_MS),
  };
}

async function textOf({ body }: RelayAnswer): Promise<string> {
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return text;
}

test('it sends the headers unchanged, and returns status, headers and bytes', async () => {
  const seen: unknown[] = [];
  const url = await serve(({ headers, url: path }, response) => {
    seen.push(headers.accept, headers['last-event-id'], headers['accept-encoding'], path);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-svc-relay': '1' }).end('data: a\n\n');
  });
  const answer = await createConnect()(request(`${url}/c?raw=1`, { 'last-event-id': 'e.1' }));
  expect(seen).toEqual(['text/event-stream', 'e.1', undefined, '/c?raw=1']);
  expect(answer.status).toBe(200);
  expect(answer.header('x-svc-relay')).toBe('1');
  expect(answer.header('x-nothing')).toBeUndefined();
  expect(await textOf(answer)).toBe('data: a\n\n');
});

test('aborting ends a body that is being read', async () => {
  const url = await serve((_request, response) => void response.writeHead(200).write('data: a\n\n'));
  const abort = new AbortController();
  const answer = await createConnect()({ ...request(url), signal: abort.signal });
  const reading = textOf(answer);
  setImmediate(() => abort.abort());
  await expect(reading).rejects.toThrow(/aborted/);
});

test('nothing listens, or the name is unknown: it rejects with a readable reason', async () => {
  const connect = createConnect();
  await expect(connect(request('http://127.0.0.1:1/c'))).rejects.toThrow(/ECONNREFUSED/);
  const unknown: unknown = await connect(request('http://does-not-exist.invalid/c')).catch(
    (error: unknown) => error,
  );
  expect(wordsForError(unknown).why).toMatch(/DNS/);
});

test('https: an untrusted authority is refused with a reason, and a trusted one opens the stream', async () => {
  const { key, cert, authorityFile } = await makeLoopbackCertificate(temporaryFolder());
  const server = createSecureServer({ key, cert }, (_request, response) => void response.end('data: a\n\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/c`;
  const refused: unknown = await createConnect()(request(url)).catch((error: unknown) => error);
  expect(wordsForError(refused).why).toMatch(/certificate is not trusted/);

  const before = getCACertificates('default');
  setDefaultCACertificates([...before, readFileSync(authorityFile, 'utf8')]);
  onTestFinished(() => setDefaultCACertificates(before));
  expect(await textOf(await createConnect()(request(url)))).toBe('data: a\n\n');
});

test('it uses the proxy in the environment', async () => {
  const relay = await serve((_request, response) => void response.writeHead(200).end('data: a\n\n'));
  const asked: string[] = [];
  const proxy = await serve((incoming, response) => {
    asked.push(incoming.url ?? '');
    forward(incoming.url ?? '', (answer) => answer.pipe(response)).end();
  });
  const answer = await createConnect({ proxy: { HTTP_PROXY: proxy } })(request(`${relay}/c`));
  expect(await textOf(answer)).toBe('data: a\n\n');
  expect(asked).toEqual([`${relay}/c`]);
});

/** Answers by address. */
function scripted(answers: Record<string, { status: number; location?: string }>) {
  const asked: { url: string; key: string | undefined }[] = [];
  const connect: Connect = ({ url, headers }) => {
    asked.push({ url: url.href, key: headers['authorization'] });
    const { status, location } = answers[url.href] ?? { status: 404 };
    const header = (name: string): string | undefined => (name === 'location' ? location : undefined);
    return Promise.resolve({ status, header, body: (async function* () {})() });
  };
  return { connect, asked };
}

const keyed = (url: string): RelayRequest => request(url, { authorization: 'Bearer key' });

test.each([301, 302, 303, 307, 308])('a redirect with %i is followed', async (status) => {
  const { connect, asked } = scripted({
    'https://a/1': { status, location: '/2' },
    'https://a/2': { status, location: 'https://b/3' },
    'https://b/3': { status: 200 },
  });
  expect(await follow(connect, keyed('https://a/1'))).toMatchObject({ ok: true, answer: { status: 200 } });
  expect(asked).toEqual([
    { url: 'https://a/1', key: 'Bearer key' },
    { url: 'https://a/2', key: 'Bearer key' },
    { url: 'https://b/3', key: undefined },
  ]);
});

test.each([
  ['a loop', { 'https://a/1': { status: 307, location: '/1' } }, 'it redirects too many times'],
  [
    'to http',
    { 'https://a/1': { status: 307, location: 'http://a/1' } },
    'it redirects from https to an insecure address',
  ],
  [
    'to a file',
    { 'https://a/1': { status: 307, location: 'file:///x' } },
    'it redirects from https to an insecure address',
  ],
  ['to nonsense', { 'https://a/1': { status: 307, location: 'http://[' } }, 'it redirects to an invalid URL'],
])('a redirect that is not followed: %s', async (_name, answers, why) => {
  expect(await follow(scripted(answers).connect, keyed('https://a/1'))).toEqual({ ok: false, why });
});

test('a redirect without an address is an answer like any other', async () => {
  const { connect } = scripted({ 'https://a/1': { status: 304 } });
  expect(await follow(connect, keyed('https://a/1'))).toMatchObject({ ok: true, answer: { status: 304 } });
});

test.each([
  ['CERT_HAS_EXPIRED', /certificate is not trusted \(CERT_HAS_EXPIRED\)/, /date of this machine/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate/, /NODE_EXTRA_CA_CERTS/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate/, /NODE_EXTRA_CA_CERTS/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /certificate/, /date/],
  ['EAI_AGAIN', /DNS/, /network/],
  ['ENETUNREACH', /no network/, /network/],
  ['ECONNRESET', /reset/, undefined],
  ['EWEIRD', /EWEIRD/, undefined],
])('the reason for %s', (code, why, remedy) => {
  const words = wordsForError(Object.assign(new Error('x'), { code }));
  expect(words.why).toMatch(why);
  if (remedy) expect(words.remedy).toMatch(remedy);
});

test('the reason for an error without a code, and for answers', () => {
  expect(wordsForError(new Error('odd')).why).toBe('the connection failed: odd');
  expect(wordsForError('odd').why).toMatch(/unknown reason/);
  expect(wordsForStatus(502).why).toBe('the relay answered 502');
  expect(wordsForStatus(404).remedy).toMatch(/setup-webhooks/);
  expect(wordsForStatus(403)).toMatchObject({
    why: 'the relay refuses the channel (403)',
    refusal: 'channel',
  });
  expect(wordsForStatus(401).why).toMatch(/wants a read key/);
});
