// Both receivers over real HTTP: the order of checks, the names, the secrets, one event per delivery.

import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { codehostExample, codehostExamples, trackerExamples, until, untilHolds } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { judgeHealth } from '../src/features/health/judge-daemon.ts';
import { topics } from '../src/features/topics.ts';
import { parseEventLine } from '../src/kernel/log/event-line.ts';
import { startInProcess } from './in-process-daemon.ts';

const SECRET = 'a'.repeat(64);
const TRACKER_SECRET = 'b'.repeat(64);
const environment = { SVC_WEBHOOK_SECRET: SECRET, SVC_TRACKER_WEBHOOK_SECRET: TRACKER_SECRET };
const hmac = (secret: string, body: string | Uint8Array) =>
  createHmac('sha256', secret).update(body).digest('hex');
const merged = JSON.stringify(codehostExample('pull_request merged').payload);

const codehost = (body: string | Uint8Array, more: Record<string, string> = {}, secret = SECRET) => ({
  'Content-Type': 'application/json',
  'X-Hub-Signature-256': `sha256=${hmac(secret, body)}`,
  'X-Codehost-Event': 'pull_request',
  'X-Codehost-Delivery': 'delivery-1',
  ...more,
});
const tracker = (body: string, more: Record<string, string> = {}) => ({
  'Content-Type': 'application/json',
  'Tracker-Signature': hmac(TRACKER_SECRET, body),
  'Tracker-Delivery': 'delivery-1',
  ...more,
});
const without = (headers: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

describe('POST /api/webhook', () => {
  test('an accepted delivery is one event with topic, source, scope and delivery id', async () => {
    const daemon = await startInProcess({ environment });
    const { status, body } = await daemon.post('/api/webhook', merged, codehost(merged));
    expect(status).toBe(200);
    const [line] = daemon.lines();
    expect(body).toEqual({ ok: true, event: 'codehost.pr.merged', id: line?.id });
    expect(line).toMatchObject({ source: 'codehost.webhook', via: 'live', deliveryId: 'delivery-1' });
    expect(line?.scope.mergeSha).toMatch(/^[0-9a-f]{40}$/);
  });

  test('the event is in ~/svc/events, in the file of its UTC month', async () => {
    const { existsSync, readFileSync } = await import('node:fs');
    const now = () => new Date('2026-01-31T23:59:59.999Z');
    const daemon = await startInProcess({ environment, now });
    await daemon.post('/api/webhook', merged, codehost(merged));
    const file = `${daemon.home}/svc/events/2026-01.jsonl`;
    expect(existsSync(file)).toBe(true);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      event: 'codehost.pr.merged',
      source: 'codehost.webhook',
      ts: '2026-01-31T23:59:59.999Z',
    });
  });

  test('an accepted delivery is on the stream and on the board', async () => {
    const daemon = await startInProcess({ environment });
    const stream = await fetch(`${daemon.url}/api/events/stream?event=codehost.pr.merged`);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => reader?.cancel());
    const { body } = await daemon.post('/api/webhook', merged, codehost(merged));
    let received = '';
    await until(async () => {
      received += (await reader?.read())?.value ?? '';
      return received.includes(String(body['id']));
    });
    await untilHolds(async () => {
      const board = (await daemon.get('/api/board?all=1')).body;
      expect(board['pullRequests']).toMatchObject([{ state: 'merged' }]);
    });
  });

  test('the same delivery again is 200, a duplicate, and no second event', async () => {
    const daemon = await startInProcess({ environment });
    const first = await daemon.post('/api/webhook', merged, codehost(merged));
    const second = await daemon.post('/api/webhook', merged, codehost(merged));
    expect(second.status).toBe(200);
    expect(second.body).toEqual({ ok: true, duplicate: true, id: first.body['id'] });
    expect(daemon.lines()).toHaveLength(1);
  });

  test('the same signed bytes under another id are accepted, marked as a repeat, and change nothing', async () => {
    const daemon = await startInProcess({ environment });
    const { payload } = codehostExample('pull_request merged');
    const payloadOf = (action: string, state: string) =>
      JSON.stringify({
        ...payload,
        action,
        pull_request: { ...(payload['pull_request'] as object), state, merged: false, merged_at: null },
      });
    const [closed, reopened] = [payloadOf('closed', 'closed'), payloadOf('reopened', 'open')];
    const send = (body: string, id: string) =>
      daemon.post('/api/webhook', body, codehost(body, { 'X-Codehost-Delivery': id }));
    const state = async () => (await daemon.get('/api/board?all=1')).body['pullRequests'];
    expect((await send(closed, 'one')).status).toBe(200);
    expect((await send(reopened, 'two')).status).toBe(200);
    expect((await send(closed, 'three')).status).toBe(200);
    const [first, , repeat] = daemon.lines();
    expect(first?.repeatOf).toBeUndefined();
    expect(repeat).toMatchObject({ event: 'codehost.pr.closed', deliveryId: 'three', repeatOf: first?.seq });
    await untilHolds(async () => {
      expect((await daemon.get('/api/board')).body['seq']).toBeGreaterThanOrEqual(repeat?.seq ?? 0);
    });
    expect(await state()).toMatchObject([{ state: 'open' }]);
  });

  test('a delivery that races itself is one event', async () => {
    const daemon = await startInProcess({ environment });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => daemon.post('/api/webhook', merged, codehost(merged))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter(({ body }) => body['duplicate'] === true)).toHaveLength(19);
    expect(daemon.lines()).toHaveLength(1);
  });

  test('a delivery is known after a restart', async () => {
    const daemon = await startInProcess({ environment });
    await daemon.post('/api/webhook', merged, codehost(merged));
    await daemon.close();
    const again = await startInProcess({ environment, home: daemon.home });
    const { body } = await again.post('/api/webhook', merged, codehost(merged));
    expect(body['duplicate']).toBe(true);
    expect(again.lines().map((line) => line.seq)).toHaveLength(1);
  });

  test('all published examples of the ten event types become valid events', async () => {
    const daemon = await startInProcess({ environment });
    const examples = codehostExamples();
    for (const [index, { type, payload }] of examples.entries()) {
      const body = JSON.stringify(payload);
      const headers = codehost(body, { 'X-Codehost-Event': type, 'X-Codehost-Delivery': `d-${index}` });
      expect((await daemon.post('/api/webhook', body, headers)).status).toBe(200);
    }
    const lines = daemon.lines();
    expect(lines).toHaveLength(examples.length);
    for (const line of lines) expect(parseEventLine(topics, line).ok).toBe(true);
  });

  test('the real header names work too', async () => {
    const daemon = await startInProcess({ environment });
    const headers = {
      'X-Hub-Signature-256': `sha256=${hmac(SECRET, merged)}`,
      'X-GitHub-Event': 'pull_request',
      'X-GitHub-Delivery': 'x',
    };
    expect((await daemon.post('/api/webhook', merged, headers)).body['event']).toBe('codehost.pr.merged');
  });

  test('without an event header the type is inferred from the payload', async () => {
    const daemon = await startInProcess({ environment });
    const { body } = await daemon.post('/api/webhook', merged, without(codehost(merged), 'X-Codehost-Event'));
    expect(body['event']).toBe('codehost.pr.merged');
  });

  test('a form with the JSON in payload is parsed, its signature over the raw form', async () => {
    const daemon = await startInProcess({ environment });
    const form = new URLSearchParams({ payload: merged }).toString();
    const headers = codehost(form, { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect((await daemon.post('/api/webhook', form, headers)).body['event']).toBe('codehost.pr.merged');
  });

  test('the signature is over the raw bytes: other spacing needs another signature', async () => {
    const daemon = await startInProcess({ environment });
    const pretty = JSON.stringify(JSON.parse(merged), null, 2);
    expect((await daemon.post('/api/webhook', pretty, codehost(merged))).status).toBe(401);
    expect((await daemon.post('/api/webhook', pretty, codehost(pretty))).status).toBe(200);
  });

  test('each of several configured secrets is accepted, whatever the name of its variable', async () => {
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const { temporaryFolder } = await import('@svc/testkit');
    const home = temporaryFolder();
    for (const [name, variable] of [
      ['one', 'HOOK_HMAC'],
      ['two', 'my_other_hook'],
    ]) {
      mkdirSync(`${home}/${name}/.svc`, { recursive: true });
      writeFileSync(
        `${home}/${name}/.svc/config.json`,
        JSON.stringify({ svc: { monitor: { github: { webhookSecretEnv: variable } } } }),
      );
    }
    mkdirSync(`${home}/.config/svc`, { recursive: true });
    writeFileSync(
      `${home}/.config/svc/config.json`,
      JSON.stringify({ svc: { projects: [`${home}/one`, `${home}/two`] } }),
    );
    const [first, second] = ['1'.repeat(16), '2'.repeat(16)];
    const daemon = await startInProcess({ home, environment: { HOOK_HMAC: first, my_other_hook: second } });
    for (const secret of [first, second]) {
      const headers = codehost(merged, { 'X-Codehost-Delivery': secret }, secret);
      expect((await daemon.post('/api/webhook', merged, headers)).status).toBe(200);
    }
    expect((await daemon.post('/api/webhook', merged, codehost(merged, {}, 'third'))).status).toBe(401);
  });

  test('a variable that everyone knows is not a secret: the project is left out, and health reports it', async () => {
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const { temporaryFolder } = await import('@svc/testkit');
    const home = temporaryFolder();
    mkdirSync(`${home}/.svc`);
    writeFileSync(
      `${home}/.svc/config.json`,
      JSON.stringify({ svc: { monitor: { github: { webhookSecretEnv: 'LANG' } } } }),
    );
    const daemon = await startInProcess({ home, environment: { ...environment, LANG: 'C.UTF-8' } });
    const forged = await daemon.post('/api/webhook', merged, codehost(merged, {}, 'C.UTF-8'));
    expect(forged.status).toBe(401);
    const { body } = await daemon.get('/api/health');
    expect(body).toMatchObject({
      status: 'degraded',
      configuration: {
        problems: [
          { severity: 'error', text: expect.stringMatching(/webhookSecretEnv: .*like HOME or LANG/) },
        ],
      },
    });
  });

  test('a short secret verifies nothing; the response, health and the doctor report it', async () => {
    const weak = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'fifteen letters' } });
    const why = 'SVC_WEBHOOK_SECRET is not used: a secret of fewer than 16 characters could be guessed';
    const remedy = expect.stringContaining('svc setup-webhooks --force');
    expect(await weak.post('/api/webhook', merged, codehost(merged, {}, 'fifteen letters'))).toMatchObject({
      status: 503,
      body: { code: 'no-secret', error: expect.stringContaining(why), remedy },
    });
    const { body } = await weak.get('/api/health');
    expect(body).toMatchObject({
      status: 'degraded',
      feeds: { codehost: { receiver: 'degraded', why, remedy } },
    });
    expect(judgeHealth(body as never)).toContainEqual(
      expect.objectContaining({ part: 'receiver', grade: 'broken' }),
    );
    const strong = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: 'sixteen letters!' } });
    expect(judgeHealth((await strong.get('/api/health')).body as never)).not.toContainEqual(
      expect.objectContaining({ part: 'receiver' }),
    );
  });

  describe('refusals, in their order', () => {
    test.each([
      ['no secret configured, whatever else is wrong', {}, 'not json', {}, 503, 'no-secret'],
      [
        'no signature',
        environment,
        merged,
        without(codehost(merged), 'X-Hub-Signature-256'),
        401,
        'bad-signature',
      ],
      [
        'a signature without its prefix',
        environment,
        merged,
        codehost(merged, { 'X-Hub-Signature-256': hmac(SECRET, merged) }),
        401,
        'bad-signature',
      ],
      [
        'a signature of another secret',
        environment,
        merged,
        codehost(merged, {}, 'other'),
        401,
        'bad-signature',
      ],
      [
        'a wrong signature on what is not JSON',
        environment,
        'not json',
        codehost('other'),
        401,
        'bad-signature',
      ],
      ['not JSON', environment, 'not json', codehost('not json'), 400, 'bad-payload'],
      ['an empty body', environment, '', codehost(''), 400, 'bad-payload'],
      ['JSON that is no object', environment, '[1]', codehost('[1]'), 400, 'bad-payload'],
      [
        'an event type that cannot be known',
        environment,
        '{}',
        without(codehost('{}'), 'X-Codehost-Event'),
        400,
        'bad-payload',
      ],
      [
        'no delivery id',
        environment,
        merged,
        without(codehost(merged), 'X-Codehost-Delivery'),
        400,
        'no-delivery-id',
      ],
      [
        'a hostile delivery id',
        environment,
        merged,
        codehost(merged, { 'X-Codehost-Delivery': 'a b' }),
        400,
        'no-delivery-id',
      ],
    ])('%s', async (_, variables, body, headers, status, code) => {
      const daemon = await startInProcess({ environment: variables });
      const answer = await daemon.post('/api/webhook', body, headers);
      expect({ status: answer.status, code: answer.body['code'] }).toEqual({ status, code });
      expect(typeof answer.body['error']).toBe('string');
      expect(daemon.lines()).toEqual([]);
    });

    test('over 25 MiB announced: 413 before the body is read', async () => {
      const daemon = await startInProcess({ environment });
      const status = await new Promise((resolve) => {
        const headers = { ...codehost(''), 'Content-Length': String(25 * 1024 * 1024 + 1) };
        const call = request(`${daemon.url}/api/webhook`, { method: 'POST', headers }, (response) =>
          resolve(response.statusCode),
        );
        call.on('error', () => undefined);
        call.flushHeaders();
      });
      expect(status).toBe(413);
    });

    test('25 MiB are accepted', async () => {
      const daemon = await startInProcess({ environment });
      const payload = JSON.stringify({ ...JSON.parse(merged), padding: '' });
      const body = payload.replace(
        '"padding":""',
        `"padding":"${'x'.repeat(25 * 1024 * 1024 - payload.length)}"`,
      );
      expect(body).toHaveLength(25 * 1024 * 1024);
      expect((await daemon.post('/api/webhook', body, codehost(body))).status).toBe(200);
    });
  });

  test('a secret never appears in a response or in the log', async () => {
    const daemon = await startInProcess({ environment });
    const answers = [
      await daemon.post('/api/webhook', merged, codehost(merged, {}, 'other')),
      await daemon.post('/api/webhook', merged, codehost(merged)),
      await daemon.get('/api/health'),
    ];
    await daemon.close();
    const everything =
      JSON.stringify(answers.map(({ body }) => body)) + daemon.printed() + JSON.stringify(daemon.lines());
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toContain(TRACKER_SECRET);
  });
});

describe('POST /api/webhook/tracker', () => {
  test.each(trackerExamples().map((example) => [example.name, example] as const))(
    '%s',
    async (_, example) => {
      const daemon = await startInProcess({ environment });
      const body = JSON.stringify(example.payload);
      const { status } = await daemon.post('/api/webhook/tracker', body, tracker(body));
      expect(status).toBe(200);
      expect(daemon.lines()[0]?.source).toBe('tracker.webhook');
    },
  );

  test('the real path and header names work too', async () => {
    const daemon = await startInProcess({ environment });
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    const headers = { 'Linear-Signature': hmac(TRACKER_SECRET, body), 'Linear-Delivery': 'x' };
    expect((await daemon.post('/api/webhook/linear', body, headers)).status).toBe(200);
  });

  test('a prefixed signature is refused: it is bare hex here', async () => {
    const daemon = await startInProcess({ environment });
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    const headers = tracker(body, { 'Tracker-Signature': `sha256=${hmac(TRACKER_SECRET, body)}` });
    expect((await daemon.post('/api/webhook/tracker', body, headers)).status).toBe(401);
  });

  test.each([
    ['missing', {}],
    ['empty', { SVC_TRACKER_WEBHOOK_SECRET: '' }],
  ])('503 when the secret variable is %s', async (_, variables) => {
    const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: SECRET, ...variables } });
    const { status, body } = await daemon.post('/api/webhook/tracker', '{}', tracker('{}'));
    expect(status).toBe(503);
    expect(body['remedy']).toContain('SVC_TRACKER_WEBHOOK_SECRET');
  });

  test('the secret is that of the configured variable', async () => {
    const { mkdirSync, writeFileSync } = await import('node:fs');
    const { temporaryFolder } = await import('@svc/testkit');
    const home = temporaryFolder();
    mkdirSync(`${home}/.svc`);
    writeFileSync(
      `${home}/.svc/config.json`,
      JSON.stringify({ svc: { monitor: { linear: { webhookSecretEnv: 'MY_TRACKER_SECRET' } } } }),
    );
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    const unset = await startInProcess({ home, environment });
    const refused = await unset.post('/api/webhook/tracker', body, tracker(body));
    expect(refused.status).toBe(503);
    expect(refused.body['remedy']).toContain('MY_TRACKER_SECRET');
    await unset.close();
    const named = { MY_TRACKER_SECRET: TRACKER_SECRET, SVC_TRACKER_WEBHOOK_SECRET: 'another' };
    const daemon = await startInProcess({ home, environment: named });
    expect((await daemon.post('/api/webhook/tracker', body, tracker(body))).status).toBe(200);
  });

  test('a signature of another secret or of other bytes is refused', async () => {
    const daemon = await startInProcess({ environment });
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    for (const headers of [
      tracker(body, { 'Tracker-Signature': hmac('another', body) }),
      tracker(`${body} `),
      without(tracker(body), 'Tracker-Signature'),
    ]) {
      expect((await daemon.post('/api/webhook/tracker', body, headers)).status).toBe(401);
    }
    expect(daemon.lines()).toEqual([]);
  });

  test('a payload older than 60 s is accepted when its id is new, marked as replay', async () => {
    const now = new Date();
    const daemon = await startInProcess({ environment, now: () => now });
    const sentAt = (time: number) =>
      JSON.stringify({ ...trackerExamples()[0]?.payload, webhookTimestamp: time });
    const old = sentAt(now.getTime() - 61_000);
    const fresh = sentAt(now.getTime() - 59_000);
    await daemon.post('/api/webhook/tracker', old, tracker(old, { 'Tracker-Delivery': 'old' }));
    await daemon.post('/api/webhook/tracker', fresh, tracker(fresh, { 'Tracker-Delivery': 'fresh' }));
    expect(daemon.lines().map(({ via, deliveryId }) => [via, deliveryId])).toEqual([
      ['replay', 'old'],
      ['live', 'fresh'],
    ]);
    const again = await daemon.post('/api/webhook/tracker', old, tracker(old, { 'Tracker-Delivery': 'old' }));
    expect(again.body['duplicate']).toBe(true);
  });

  test('without its delivery id a delivery is refused', async () => {
    const daemon = await startInProcess({ environment });
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    const headers = without(tracker(body), 'Tracker-Delivery');
    expect(await daemon.post('/api/webhook/tracker', body, headers)).toMatchObject({
      status: 400,
      body: { code: 'no-delivery-id' },
    });
    expect(daemon.lines()).toEqual([]);
  });

  test('the same id at both feeds is two deliveries', async () => {
    const daemon = await startInProcess({ environment });
    const body = JSON.stringify(trackerExamples()[0]?.payload);
    await daemon.post('/api/webhook/tracker', body, tracker(body));
    await daemon.post('/api/webhook', merged, codehost(merged));
    expect(daemon.lines()).toHaveLength(2);
  });
});
