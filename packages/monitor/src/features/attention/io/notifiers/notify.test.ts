import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCommand } from '@svc/lib/process';
import { createMacos, linux } from '@svc/lib/system';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Handlers } from '../../../../kernel/outbox/attempt.ts';
import type { NotifyConfig, NotifyEffect } from '../../notification.ts';
import { createNotifier, type NotifierOptions, type RunProgram } from './notify.ts';

const effect: NotifyEffect = {
  key: '41:notify:spring/ABC-12/deploy-failed',
  seq: 41,
  kind: 'notify',
  attention: 'spring/ABC-12/deploy-failed',
  reason: 'deploy-failed',
  severity: 'high',
  message: 'The deploy of “Größe” failed: <!channel> <b>now</b> & here.',
  remedy: 'svc deploy retry ABC-12',
};

const off: NotifyConfig = {
  desktop: { enabled: false },
  webhook: {},
  ntfy: {},
  minSeverity: 'medium',
  quietHours: {},
};

function notifierOf(config: Partial<NotifyConfig>, given: Partial<NotifierOptions> = {}) {
  return createNotifier({
    config: () => ({ ...off, ...config }),
    fetch,
    run: runCommand,
    now: () => new Date(2026, 0, 2, 12, 0),
    system: linux,
    environment: {},
    timeoutMs: WAIT_MS,
    ...given,
  });
}

type Answer = { status: number; headers?: Record<string, string> };

/** A server on loopback that answers as configured, 200 by default, and keeps what it got. */
async function receiver(...answers: (Answer | 'never')[]) {
  const got: { headers: IncomingHttpHeaders; body: string; method: string | undefined }[] = [];
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    got.push({ headers: request.headers, body: await text(request), method: request.method });
    const answer = answers.shift() ?? { status: 200 };
    if (answer !== 'never') response.writeHead(answer.status, answer.headers).end('thanks');
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got };
}

/** A folder with a notify-send that writes down its arguments and its environment. */
function fakeDesktop(exitCode = 0) {
  const folder = temporaryFolder();
  const [args, env] = [join(folder, 'args'), join(folder, 'env')];
  const script = `#!/bin/sh\nfor arg in "$@"; do printf '%s\\0' "$arg" >> '${args}'; done\nenv > '${env}'\nexit ${exitCode}\n`;
  writeFileSync(join(folder, 'notify-send'), script);
  chmodSync(join(folder, 'notify-send'), 0o755);
  return {
    path: [folder, '/usr/bin', '/bin'].join(delimiter),
    args: () => readFileSync(args, 'utf8').split('\0').slice(0, -1),
    environment: () => readFileSync(env, 'utf8'),
  };
}

test('it is a handler of the outbox', () => {
  const handlers: Handlers = { notify: notifierOf({}) };
  expect(handlers.notify).toBeDefined();
});

describe('nothing is sent', () => {
  test('when nothing is configured', async () => {
    expect(await notifierOf({})(effect)).toEqual({ done: 'no notifier is configured' });
  });

  test.each([
    ['low', 'medium', false],
    ['medium', 'medium', true],
    ['medium', 'high', false],
  ] as const)('when %s is below %s: sent %s', async (severity, minSeverity, sent) => {
    const { url, got } = await receiver();
    const { done } = (await notifierOf({ webhook: { url }, minSeverity })({ ...effect, severity })) as {
      done: string;
    };
    expect(got).toHaveLength(sent ? 1 : 0);
    expect(done).toContain(sent ? 'sent by webhook' : 'below svc.notify.minSeverity');
  });

  test('in quiet hours, until they end; not at all if it is resolved by then', async () => {
    const { url, got } = await receiver();
    let now = new Date(2026, 0, 2, 23, 30, 20);
    let open = true;
    const notify = notifierOf(
      { webhook: { url }, quietHours: { from: '22:00', to: '07:00' } },
      { now: () => now, isOpen: () => open },
    );
    expect(await notify(effect)).toEqual({
      failed: 'held until the quiet hours end',
      permanent: false,
      retryAfterMs: 7.5 * 3_600_000 - 20_000,
      waiting: true,
    });
    expect(got).toEqual([]);
    now = new Date(2026, 0, 3, 7, 0);
    expect(await notify(effect)).toEqual({ done: 'sent by webhook' });
    open = false;
    expect(await notify({ ...effect, key: 'other' })).toEqual({ done: 'not sent: it is resolved' });
    expect(got).toHaveLength(1);
  });
});

describe('webhook', () => {
  test('the whole notification as JSON, with a key to accept it once', async () => {
    const { url, got } = await receiver();
    expect(await notifierOf({ webhook: { url } })({ ...effect, key: '41:notify:ä' })).toEqual({
      done: 'sent by webhook',
    });
    expect(got[0]?.method).toBe('POST');
    expect(got[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': '41:notify:%C3%A4',
    });
    expect(JSON.parse(got[0]?.body ?? '')).toEqual({
      text: 'svc: ABC-12: deploy failed\nThe deploy of “Größe” failed: ‹!channel› ‹b›now‹/b› & here.\nsvc deploy retry ABC-12',
      reason: 'deploy-failed',
      severity: 'high',
      message: effect.message,
      remedy: effect.remedy,
      ticket: 'ABC-12',
      attention: effect.attention,
    });
  });

  const later = { permanent: false, retryAfterMs: undefined };
  test.each([
    ['a server that is down', { status: 503 }, later],
    [
      'one that asks for a pause',
      { status: 429, headers: { 'Retry-After': '30' } },
      { ...later, retryAfterMs: 30_000 },
    ],
    [
      'for a pause of more than an hour',
      { status: 503, headers: { 'Retry-After': '999999' } },
      { ...later, retryAfterMs: 3_600_000 },
    ],
    ['an address that is gone', { status: 404 }, { permanent: true }],
    ['another address', { status: 302, headers: { Location: 'http://127.0.0.1:1/' } }, { permanent: true }],
    ['no answer', 'never', later],
  ] as const)('%s', async (_, answer, expected) => {
    const { url } = await receiver(answer);
    const notify = notifierOf({ webhook: { url } }, answer === 'never' ? { timeoutMs: 20 } : {});
    expect(await notify(effect)).toMatchObject({
      failed: expect.stringMatching(/^webhook: /),
      waiting: false,
      ...expected,
    });
  });

  test('no connection, and the address is not in the message', async () => {
    const url = 'http://127.0.0.1:1/secret-path';
    const outcome = await notifierOf({ webhook: { url } })(effect);
    expect(outcome).toMatchObject({
      failed: expect.stringContaining('the connection failed'),
      permanent: false,
    });
    expect(JSON.stringify(outcome)).not.toContain('secret-path');
  });
});

test('ntfy: the text is the body, and the headers are plain', async () => {
  const { url, got } = await receiver();
  const about = { ...effect, attention: 'spring/Größe/odd', reason: 'odd' };
  expect(await notifierOf({ ntfy: { url } })(about)).toEqual({ done: 'sent by ntfy' });
  expect(got[0]).toMatchObject({
    method: 'POST',
    body: `${effect.message}\n${effect.remedy}`,
    headers: { title: 'svc: Gr??e: odd', priority: '5', tags: 'rotating_light' },
  });
  await notifierOf({ ntfy: { url } })({ ...effect, severity: 'medium' });
  expect(got[1]?.headers).toMatchObject({ priority: '3', tags: 'warning' });
});

describe('desktop', () => {
  const desktop = { enabled: true };

  test('notify-send gets the texts as arguments, and none of the daemon’s secrets', async () => {
    const fake = fakeDesktop();
    const environment = { PATH: fake.path, DISPLAY: ':7', SVC_WEBHOOK_SECRET: 'hush-hush' };
    const sent = { ...effect, message: '$(touch /tmp/x) `id` "; --help' };
    expect(await notifierOf({ desktop }, { environment })(sent)).toEqual({ done: 'sent by desktop' });
    expect(fake.args()).toEqual([
      '--app-name=svc',
      '--urgency=critical',
      '--',
      'svc: ABC-12: deploy failed',
      '$(touch /tmp/x) `id` "; --help\nsvc deploy retry ABC-12',
    ]);
    expect(fake.environment()).toContain('DISPLAY=:7');
    expect(fake.environment()).not.toContain('hush-hush');
  });

  test('markup is shown, not interpreted', async () => {
    const fake = fakeDesktop();
    await notifierOf({ desktop }, { environment: { PATH: fake.path } })({ ...effect, remedy: null });
    expect(fake.args().at(-1)).toContain('&lt;b&gt;now&lt;/b&gt; &amp; here');
  });

  test('without the program it fails permanently; without a session temporarily', async () => {
    const none = { PATH: temporaryFolder() };
    expect(await notifierOf({ desktop }, { environment: none })(effect)).toMatchObject({
      permanent: true,
      failed: expect.stringMatching(/ENOENT.*svc\.notify\.desktop\.enabled false/),
    });
    const broken = { PATH: fakeDesktop(1).path };
    expect(await notifierOf({ desktop }, { environment: broken })(effect)).toMatchObject({
      permanent: false,
    });
    expect(
      await notifierOf({ desktop }, { system: { notification: () => undefined } })(effect),
    ).toMatchObject({ permanent: true });
  });

  test('osascript gets a fixed script, and the texts as arguments', async () => {
    const started: Parameters<RunProgram>[0][] = [];
    const run: RunProgram = async (program) => {
      started.push(program);
      return { ended: 'exit', exitCode: 0 };
    };
    const sent = { ...effect, message: '" with title "x' };
    await notifierOf({ desktop }, { run, system: createMacos() })(sent);
    const [{ file, args } = { file: '', args: [] }] = started;
    expect(file).toBe('osascript');
    expect(args.slice(0, 6).join(' ')).not.toContain('x"');
    expect(args.slice(6)).toEqual(['svc: ABC-12: deploy failed', '" with title "x\nsvc deploy retry ABC-12']);
  });
});

describe('several', () => {
  test('one that fails does not make the others send again', async () => {
    const fake = fakeDesktop();
    const webhook = await receiver({ status: 503 }, { status: 503 });
    const ntfy = await receiver();
    const notify = notifierOf(
      { desktop: { enabled: true }, webhook: { url: webhook.url }, ntfy: { url: ntfy.url } },
      { environment: { PATH: fake.path } },
    );
    for (const _ of [1, 2])
      expect(await notify(effect)).toMatchObject({ failed: 'webhook: it answered HTTP 503' });
    expect(await notify(effect)).toEqual({ done: 'sent by desktop, webhook, ntfy' });
    expect([webhook.got.length, ntfy.got.length, fake.args().length]).toEqual([3, 1, 5]);
  });

  test('one that fails permanently is not tried again, and is reported at the end', async () => {
    const webhook = await receiver({ status: 410 });
    const ntfy = await receiver({ status: 500 });
    const notify = notifierOf({ webhook: { url: webhook.url }, ntfy: { url: ntfy.url } });
    expect(await notify(effect)).toMatchObject({ permanent: false });
    expect(await notify(effect)).toMatchObject({ permanent: true, failed: 'webhook: it answered HTTP 410' });
    expect([webhook.got.length, ntfy.got.length]).toEqual([1, 2]);
  });

  test('a bug in one is a failure of that one', async () => {
    const { url, got } = await receiver();
    const run: RunProgram = () => Promise.reject(new TypeError('boom'));
    const notify = notifierOf({ desktop: { enabled: true }, webhook: { url } }, { run });
    for (const _ of [1, 2]) expect(await notify(effect)).toMatchObject({ failed: 'desktop: boom' });
    expect(got).toHaveLength(1);
  });
});
