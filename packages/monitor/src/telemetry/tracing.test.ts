import { readTracingSettings } from '@svc/core';
import { answerWithJson, startRecordingServer } from '@svc/testkit';
import { expect, test } from 'vitest';
import { codehostFeed } from '../receive/feed.ts';
import { createReceiver } from '../receive/receiver.ts';
import { noTracer } from './tracer.ts';
import { openTracing } from './tracing.ts';

type OtlpSpan = {
  name: string;
  spanId: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  links?: { spanId: string }[];
  status: { code?: number };
};

const settingsFor = (url: string, more: Record<string, string> = {}) =>
  readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more });
const open = (settings: ReturnType<typeof readTracingSettings>) =>
  openTracing({ settings, version: '1.2.3', attributes: { hostname: 'mini', project: 'web' }, delayMs: 10 });

function plain(attributes: OtlpSpan['attributes']): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

test('nothing is loaded unless an endpoint is set', async () => {
  const tracing = await openTracing({
    settings: readTracingSettings({}),
    version: '1',
    attributes: {},
    load: () => Promise.reject(new Error('loaded')),
  });
  expect(tracing.tracer).toBe(noTracer);
  expect(tracing.state()).toMatchObject({ state: 'disabled', why: 'no OTLP endpoint is set' });
  await tracing.close();
});

test.each([
  [
    'are not installed',
    Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }),
    'not installed',
    'npm install',
  ],
  ['fail', new Error('broken'), 'could not be started: broken', 'OTLP endpoint'],
])('without tracing, and with the reason, when the packages %s', async (_, error, why, remedy) => {
  const { tracer, state } = await openTracing({
    settings: settingsFor('http://127.0.0.1:1'),
    version: '1',
    attributes: {},
    load: () => Promise.reject(error),
  });
  expect(tracer).toBe(noTracer);
  expect(state()).toMatchObject({
    state: 'disabled',
    why: expect.stringContaining(why),
    remedy: expect.stringContaining(remedy),
  });
});

test('spans arrive with the resource, attributes, outcome and a link to their cause', async () => {
  const collector = await startRecordingServer((_, response) => answerWithJson(response, 200, {}));
  const tracing = await open(
    settingsFor(collector.url, {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20k3y',
      OTEL_RESOURCE_ATTRIBUTES: 'team=ops',
    }),
  );
  const delivery = tracing.tracer.startSpan('delivery', { 'svc.feed': 'codehost' });
  expect(delivery.recording).toBe(true);
  delivery.mark('verified');
  delivery.became(7);
  delivery.end('accepted');
  tracing.tracer.startSpan('effect', {}, { at: Date.now() - 500, causedBy: 7 }).end('given-up', true);
  tracing.tracer.startSpan('effect', {}, { causedBy: 6 }).end('done');
  await expect.poll(() => tracing.state().sent).toBe(3);
  expect(tracing.state()).toMatchObject({ state: 'live', why: null, lost: 0 });
  expect(JSON.stringify(tracing.state())).not.toContain('k3y');
  await tracing.close();
  expect(collector.requests[0]).toMatchObject({ method: 'POST', url: '/v1/traces' });
  expect(collector.requests[0]?.headers.authorization).toBe('Bearer k3y');
  const sent = collector.requests.flatMap(({ body }) => JSON.parse(body).resourceSpans);
  expect(plain(sent[0].resource.attributes)).toMatchObject({
    'service.name': 'svc-monitor',
    'service.version': '1.2.3',
    hostname: 'mini',
    project: 'web',
    team: 'ops',
  });
  const spans: OtlpSpan[] = sent.flatMap(({ scopeSpans }) => scopeSpans[0].spans);
  const [first, caused, other] = spans;
  expect(spans.map(({ name }) => name)).toEqual(['delivery', 'effect', 'effect']);
  expect(plain(first?.attributes ?? [])).toEqual({ 'svc.feed': 'codehost', 'svc.outcome': 'accepted' });
  expect(caused?.links?.map(({ spanId }) => spanId)).toEqual([first?.spanId]);
  expect([caused?.status.code, other?.links ?? []]).toEqual([2, []]);
});

test('an endpoint that fails is shown, and stops nothing', async () => {
  const collector = await startRecordingServer((_, response) => response.writeHead(400).end('k3y repeated'));
  const tracing = await open(settingsFor(collector.url, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k3y' }));
  tracing.tracer.startSpan('delivery', {}).end('accepted');
  await expect.poll(() => tracing.state().lost).toBe(1);
  expect(tracing.state()).toMatchObject({
    state: 'degraded',
    remedy: expect.stringContaining('OTLP endpoint'),
  });
  expect(JSON.stringify(tracing.state())).not.toContain('k3y');
  await tracing.close();
});

test('with tracing off, a delivery makes no attributes and nothing per span', async () => {
  const given: unknown[] = [];
  const tracer = {
    startSpan(...all: unknown[]) {
      given.push(...all.slice(1));
      return noTracer.startSpan('delivery', {});
    },
  };
  const receiver = createReceiver({
    feed: codehostFeed,
    secrets: () => ({ variables: ['X'], values: ['x'] }),
    log: { appendOnce: () => Promise.reject(new Error('not reached')) },
    ticketPrefixes: () => [],
    now: () => 0,
    onOutcome: () => undefined,
    tracer,
  });
  for (let number = 0; number < 3; number += 1)
    await receiver.receive({ headers: { 'x-hub-signature-256': 'sha256=0' }, body: Buffer.from('{}') });
  expect(given).toHaveLength(3);
  expect(new Set(given).size).toBe(1);
  expect(noTracer.startSpan('a', {})).toBe(noTracer.startSpan('b', {}));
});
