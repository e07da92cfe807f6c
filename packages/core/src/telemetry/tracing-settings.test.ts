import { expect, test } from 'vitest';
import { readTracingSettings } from './tracing-settings.ts';

const base = 'http://127.0.0.1:4318';

test.each([
  ['nothing is set', {}, 'no OTLP endpoint'],
  ['it is set to nothing', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, 'no OTLP endpoint'],
  [
    'the SDK is disabled',
    { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_SDK_DISABLED: 'TRUE' },
    'OTEL_SDK_DISABLED',
  ],
  [
    'the exporter is none',
    { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_TRACES_EXPORTER: 'none' },
    'OTEL_TRACES_EXPORTER',
  ],
  ['it is gRPC', { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'gRPC'],
  ['it is no address', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'not an http or https URL'],
])('off, with the reason and a remedy: %s', (_, environment, why) => {
  const settings = readTracingSettings(environment);
  expect(settings).toMatchObject({ on: false, why: expect.stringContaining(why) });
  expect(settings).toHaveProperty('remedy', expect.stringMatching(/restart|HTTP port/));
});

test.each([
  ['the base gets the path of traces', { OTEL_EXPORTER_OTLP_ENDPOINT: `${base}/` }, `${base}/v1/traces`],
  ['with a prefix', { OTEL_EXPORTER_OTLP_ENDPOINT: `${base}/otlp` }, `${base}/otlp/v1/traces`],
  [
    'the endpoint of traces is taken as it is, and wins',
    { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t.example/x' },
    'http://t.example/x',
  ],
])('where: %s', (_, environment, url) => {
  expect(readTracingSettings(environment)).toMatchObject({ on: true, url });
});

test('headers, timeout, sampler, name and attributes', () => {
  expect(
    readTracingSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: base,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-a=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-a=2',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_RESOURCE_ATTRIBUTES: 'project=web,team=a%2Cb',
    }),
  ).toEqual({
    on: true,
    url: `${base}/v1/traces`,
    headers: { authorization: 'Basic abc', 'x-a': '2' },
    timeoutMs: 2000,
    ratio: 0.25,
    serviceName: 'mine',
    attributes: { project: 'web', team: 'a,b' },
  });
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: base })).toMatchObject({
    timeoutMs: 10_000,
    ratio: 1,
    serviceName: 'svc-monitor',
  });
});
