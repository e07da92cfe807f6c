import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Config as AllKeys, createConfiguration } from '../kernel/config/configuration.ts';
import { resolveConfig } from '../kernel/config/resolve.ts';
import type { ConfigFile } from '../kernel/config/resolved-value.ts';
import { attentionKeys } from './attention/config.ts';
import { Config } from './config.ts';
import { configuration } from './configure.ts';
import { contextKeys } from './context/config.ts';
import { findingsKeys } from './findings/config.ts';
import { retentionKeys } from './retention/config.ts';
import { rulesKeys } from './rules/config.ts';
import { teamKeys } from './team/config.ts';

const svc = Config.shape.svc.unwrap();

function without(keys: readonly string[]) {
  const kept = Object.fromEntries(Object.entries(svc.shape).filter(([key]) => !keys.includes(key)));
  const schema = z.object({ ...Config.shape, svc: z.object(kept).prefault({}) });
  return createConfiguration(schema as unknown as z.ZodType<AllKeys>, configuration.parts);
}

const fileOf = (data: unknown): ConfigFile => ({
  path: 'config.json',
  layers: ['project'],
  reads: ['project'],
  data,
  lineOf: () => undefined,
});
const proof = (skipDeployVerification: unknown) => ({ deploy: { 'acme/web': { skipDeployVerification } } });

describe.each(
  Object.entries({
    attention: attentionKeys,
    context: contextKeys,
    findings: findingsKeys,
    retention: retentionKeys,
    rules: rulesKeys,
    team: teamKeys,
  }).map(([feature, keys]) => ({ feature, keys: Object.keys(keys) })),
)('without the keys of $feature', ({ keys }) => {
  const fewer = without(keys);

  test('they are unknown keys', () => {
    for (const key of keys) {
      const { problems } = resolveConfig(fewer, [fileOf({ svc: { [key]: {} } })], {});
      expect(problems).toMatchObject([{ code: 'unknown-key', key: `svc.${key}` }]);
    }
  });

  test('the deploy policies are stated as before', () => {
    for (const settings of [proof(false), proof(true), proof('yes'), { deploi: {}, ...proof(false) }, []]) {
      const read = (given: typeof fewer) => resolveConfig(given, [fileOf({ svc: settings })], {}).applied;
      expect(read(fewer)).toEqual(read(configuration));
    }
    expect(resolveConfig(fewer, [fileOf({ svc: proof(false) })], {}).applied.deploy).toMatchObject({
      'acme/web': { skipDeployVerification: false },
    });
  });
});
