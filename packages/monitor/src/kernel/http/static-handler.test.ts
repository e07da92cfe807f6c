// The web app's files over a real server: names, compressed forms, caching, deep links, headers.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { loadStaticFiles } from './load-static-files.ts';
import { createHttpServer } from './server.ts';
import { createStaticHandler, dashboardFolder, loadDashboard, pagePolicy } from './static-handler.ts';
import { allowEveryone } from './testing/allow-everyone.ts';

const page = '<!doctype html><title>svc</title><script src="/assets/app-1a2b.js"></script>';
const script = `console.log("${'svc '.repeat(2_000)}");`;

function builtApp(): string {
  const folder = join(temporaryFolder(), 'dist');
  mkdirSync(join(folder, 'assets', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), page);
  writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'assets', 'app-1a2b.js'), script);
  writeFileSync(join(folder, 'assets', 'app-1a2b.js.br'), brotliCompressSync(script));
  writeFileSync(join(folder, 'assets', 'app-1a2b.js.gz'), gzipSync(script));
  writeFileSync(join(folder, 'assets', 'deep', 'style-3c.css'), 'body{}');
  return folder;
}

async function serve(folder: string) {
  const answers: [string, string, number][] = [];
  const server = createHttpServer({
    logger: pino({ level: 'silent' }),
    access: allowEveryone,
    show: createStaticHandler({
      files: loadStaticFiles(folder),
      onAnswer: (route, method, status) => answers.push([route, method, status]),
    }),
    onAnswer: () => undefined,
    routes: [],
  });
  onTestFinished(() => server.close());
  const port = await server.listen(0);
  /** Sends the path as written: `fetch` would normalise it. */
  const call = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
      const sent = httpGet({ host: '127.0.0.1', port, path, headers, method }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const { statusCode = 0, headers: given } = response;
          resolve({ status: statusCode, headers: given, body: Buffer.concat(parts) });
        });
      });
      sent.on('error', reject);
    });
  return { call, answers };
}

test.each([
  ['/', 'text/html; charset=utf-8', 'no-cache', page],
  ['/index.html', 'text/html; charset=utf-8', 'no-cache', page],
  ['/favicon.svg?v=1', 'image/svg+xml', 'no-cache', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['/assets/app-1a2b.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', script],
  ['/assets/deep/style-3c.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable', 'body{}'],
  ['/tickets/run-1%2FENG-1', 'text/html; charset=utf-8', 'no-cache', page],
  ['/apiary', 'text/html; charset=utf-8', 'no-cache', page],
])('%s', async (path, type, caching, text) => {
  const { call } = await serve(builtApp());
  const { status, headers, body } = await call(path);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe(type);
  expect(headers['cache-control']).toBe(caching);
  expect(body.toString()).toBe(text);
  expect(headers).toMatchObject({
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    vary: 'Accept-Encoding',
  });
});

test('no inline script is allowed in the page', () => {
  expect(pagePolicy).toContain("script-src 'self';");
  expect(pagePolicy).not.toMatch(/script-src[^;]*unsafe/);
});

test.each([
  '/assets/gone-9.js',
  '/assets/../../secret.txt',
  '/assets/%2e%2e/%2e%2e/secret.txt',
  '/api/nowhere',
  '/api',
  '/apple-touch-icon.png',
])('%s is not there, in JSON', async (path) => {
  const folder = builtApp();
  writeFileSync(join(folder, '..', 'secret.txt'), 'nobody reads this');
  const { call } = await serve(folder);
  const { status, body } = await call(path);
  expect(status).toBe(404);
  expect(JSON.parse(body.toString())).toMatchObject({ code: 'no-such-route' });
});

test('a ticket with a dot in its name is a page if a browser requests one', async () => {
  const { call } = await serve(builtApp());
  expect((await call('/tickets/ENG.1', { Accept: 'text/html,*/*;q=0.8' })).body.toString()).toBe(page);
  expect((await call('/tickets/ENG.1', { Accept: 'image/png' })).status).toBe(404);
});

test.each(['/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '//etc/passwd', '/%', '/\u{0}'])(
  'a path out of the folder returns the page: %j',
  async (path) => {
    const { call } = await serve(builtApp());
    const { body } = await call(encodeURI(path).replaceAll('%25', '%'), { Accept: 'text/html' });
    expect(body.toString()).toBe(page);
  },
);

test('links in the folder are not followed', async () => {
  const folder = builtApp();
  writeFileSync(join(folder, '..', 'outside.txt'), 'nobody reads this');
  symlinkSync(join(folder, '..', 'outside.txt'), join(folder, 'assets', 'inside.txt'));
  symlinkSync('/etc', join(folder, 'assets', 'etc'));
  const { call } = await serve(folder);
  expect((await call('/assets/inside.txt')).status).toBe(404);
  expect((await call('/assets/etc/hostname')).status).toBe(404);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['*', 'br'],
  ['identity', undefined],
  ['', undefined],
])('Accept-Encoding: %s', async (accepted, encoding) => {
  const { call } = await serve(builtApp());
  const { headers, body } = await call('/assets/app-1a2b.js', { 'Accept-Encoding': accepted });
  expect(headers['content-encoding']).toBe(encoding);
  expect(headers['content-length']).toBe(String(body.length));
  const plain =
    encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
  expect(plain.toString()).toBe(script);
  if (encoding !== undefined) expect(body.length).toBeLessThan(script.length / 10);
});

test('a compressed form is not a separate file, and a file without one is sent as it is', async () => {
  const { call } = await serve(builtApp());
  expect((await call('/assets/app-1a2b.js.br')).status).toBe(404);
  const { headers, body } = await call('/', { 'Accept-Encoding': 'br, gzip' });
  expect(headers['content-encoding']).toBeUndefined();
  expect(body.toString()).toBe(page);
});

test('what the browser has is not sent again; every form has its own tag', async () => {
  const { call } = await serve(builtApp());
  const first = await call('/assets/app-1a2b.js', { 'Accept-Encoding': 'br' });
  const plain = await call('/assets/app-1a2b.js');
  const { etag = '' } = first.headers;
  expect(etag).toMatch(/^"[\w-]{22}-br"$/);
  expect(plain.headers.etag).not.toBe(etag);
  for (const known of [etag, `"other", W/${etag}`, '*']) {
    const again = await call('/assets/app-1a2b.js', { 'Accept-Encoding': 'br', 'If-None-Match': known });
    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
    expect(again.headers.etag).toBe(etag);
  }
  const other = await call('/assets/app-1a2b.js', { 'If-None-Match': etag });
  expect(other.status).toBe(200);
});

test('HEAD returns only the headers', async () => {
  const { call, answers } = await serve(builtApp());
  const { status, headers, body } = await call('/', {}, 'HEAD');
  expect([status, headers['content-length'], body.length]).toEqual([200, String(page.length), 0]);
  expect(answers).toEqual([['dashboard', 'HEAD', 200]]);
});

test('other methods are left to the routes', async () => {
  const { call } = await serve(builtApp());
  for (const method of ['POST', 'DELETE', 'PUT']) expect((await call('/', {}, method)).status).toBe(404);
});

test('a foreign host gets nothing', async () => {
  const { call } = await serve(builtApp());
  expect((await call('/', { Host: 'evil.example' })).status).toBe(403);
});

test('without a build, a page explains how to build it', async () => {
  for (const folder of [temporaryFolder(), '/nowhere/at/all']) {
    const { call } = await serve(folder);
    const { status, headers, body } = await call('/board');
    expect(status).toBe(503);
    expect(headers['content-security-policy']).toBe(pagePolicy);
    expect(body.toString()).toContain('npm run build');
    expect((await call('/api/nowhere')).status).toBe(404);
  }
});

test('it is beside the bundled program, or in its own package', () => {
  expect(dashboardFolder('/opt/svc/packages/monitor/dist')).toBe('/opt/svc/packages/monitor/dist/dashboard');
  expect(dashboardFolder('/opt/svc/packages/monitor/src/kernel/http')).toBe(
    '/opt/svc/packages/dashboard/dist',
  );
});

test('the daemon runs without it and logs that', () => {
  const printed: string[] = [];
  const logger = pino({}, { write: (line) => void printed.push(line) });
  const folder = temporaryFolder();
  expect(loadDashboard(logger, folder)).toBeUndefined();
  expect(printed.join('')).toContain('npm run build');
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  expect(loadDashboard(logger, folder)?.has('/index.html')).toBe(true);
  // A folder with ten thousand files is not a web app.
  mkdirSync(join(folder, 'many'));
  for (let number = 0; number < 2_001; number += 1) writeFileSync(join(folder, 'many', `${number}`), '');
  expect(loadDashboard(logger, folder)).toBeUndefined();
  expect(printed.join('')).toContain('the dashboard cannot be read');
});
