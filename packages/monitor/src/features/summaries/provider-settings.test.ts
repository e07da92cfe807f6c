// The machine's configuration decides where a key is sent, never a repository.
import { expect, test } from 'vitest';
import type { Layer } from '../../kernel/config/field.ts';
import { resolveConfig } from '../configure.ts';

const file = (layer: Layer, provider: object) => ({
  path: `/conf/${layer}.json`,
  layers: [layer],
  reads: [layer],
  data: { svc: { ai: { providers: { 'provider-a': provider } } } },
  lineOf: () => 1,
});
const baseUrl = 'https://models.example/v1';

test('a base URL in the project file does not count', () => {
  const { values, problems } = resolveConfig([file('project', { apiKeyEnv: 'MODEL_KEY', baseUrl })], {});
  expect(values.find(({ key }) => key.endsWith('.baseUrl'))?.value).toBeUndefined();
  expect(problems.map(({ key }) => key)).toContain('svc.ai.providers.provider-a.baseUrl');
});

test('a base URL in the global file does not require a project to name a key', () => {
  const { config, problems } = resolveConfig([file('global', { baseUrl })], {});
  expect(problems).toEqual([]);
  expect(config?.svc.ai.providers['provider-a']).toEqual({ baseUrl });
});

test('a provider in the project file needs the name of its variable', () => {
  const { problems } = resolveConfig([file('project', {})], {});
  expect(problems.map(({ code }) => code)).toEqual(['incomplete']);
});

test.each([
  ['https://gateway.example/v1', true],
  ['http://127.0.0.1:4000', true],
  ['http://localhost:4000/v1', true],
  ['http://gateway.example/v1', false],
  ['https://ada:pw@gateway.example/v1', false],
])('the key of the briefing goes to %s: %s', (gateway, isTaken) => {
  const data = { ai: { gateway, apiKey: 'key' } };
  const { config, problems } = resolveConfig([{ ...file('secrets', {}), data }], {});
  expect(config?.ai.gateway).toBe(isTaken ? gateway : undefined);
  expect(problems.map(({ key }) => key).includes('ai.gateway')).toBe(!isTaken);
  expect(JSON.stringify(problems)).not.toContain('pw');
});
