import { expect, test } from 'vitest';
import type { ConfigFile } from '../../../kernel/config/resolved-value.ts';
import { resolveConfig } from '../../configure.ts';
import { backendOf } from '../proxy-request.ts';

const otel = (given: object) => ({ otel: { enabled: true, prometheusUrl: null, lokiUrl: null, ...given } });

test('off unless enabled, with a remedy', () => {
  expect(backendOf('metrics', [otel({ enabled: false, prometheusUrl: 'http://m' })])).toEqual({
    use: false,
    why: 'otel.enabled is false',
    remedy: 'Run: svc config set otel.enabled true (or set OTEL_ENABLED=true and restart the daemon)',
  });
  expect(backendOf('logs', [])).toMatchObject({ use: false, why: 'otel.enabled is false' });
});

test('each backend needs its URL', () => {
  expect(backendOf('metrics', [otel({ lokiUrl: 'http://l' })])).toMatchObject({
    use: false,
    why: 'otel.prometheusUrl is not set',
    remedy: expect.stringContaining('PROMETHEUS_URL'),
  });
  expect(backendOf('logs', [otel({ prometheusUrl: 'http://m' })])).toMatchObject({
    use: false,
    why: 'otel.lokiUrl is not set',
    remedy: expect.stringContaining('LOKI_URL'),
  });
});

test('the first project that enables and names it', () => {
  const configs = [
    otel({ enabled: false, prometheusUrl: 'http://off' }),
    otel({ prometheusUrl: 'http://first' }),
    otel({ prometheusUrl: 'http://second', lokiUrl: 'http://l' }),
  ];
  expect(backendOf('metrics', configs)).toEqual({ use: true, url: 'http://first' });
  expect(backendOf('logs', configs)).toEqual({ use: true, url: 'http://l' });
});

test.each([
  ['OTEL_ENABLED', { OTEL_ENABLED: 'false' }, { use: false, why: 'otel.enabled is false' }],
  ['PROMETHEUS_URL', { PROMETHEUS_URL: 'http://variable' }, { use: true, url: 'http://variable' }],
  ['neither', {}, { use: true, url: 'http://file' }],
])('the environment wins over the file, the deprecated name included: %s', (_, environment, expected) => {
  const file: ConfigFile = {
    path: '/global.json',
    layers: ['global', 'secrets'],
    reads: ['global'],
    data: { otel: { enabled: true, prometheus: 'http://file' } },
    lineOf: () => undefined,
  };
  const { config, problems } = resolveConfig([file], environment);
  expect(config && backendOf('metrics', [config])).toMatchObject(expected);
  expect(problems.filter(({ code }) => code === 'deprecated')).toHaveLength(1);
});
