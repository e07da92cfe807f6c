import { expect, test } from 'vitest';
import { configEntry, projectEntry } from './config-report.ts';
import type { ConfigFile } from './read-file.ts';
import { resolveConfig } from './resolve.ts';
import { allFields } from './tree.ts';

const lineOf = () => 3;
const file = (layers: ConfigFile['layers'], data: unknown): ConfigFile => ({
  path: `/etc/${layers[0]}.json`,
  layers,
  reads: layers,
  data,
  lineOf,
});

const { values } = resolveConfig(
  [
    file(['project'], {
      svc: {
        projectKey: 'shop',
        project: { name: 'Shop', ticketPrefix: 'SHO' },
        repository: { org: 'acme', name: 'web' },
        feedback: {},
      },
    }),
    file(['secrets'], {
      svc: { tracker: { apiToken: 'very-secret' } },
      otel: { prometheus: 'http://localhost:9090' },
    }),
  ],
  { SVC_ARCHIVE_ROOT: '/srv/archive' },
);
const entries = new Map(values.map((value) => [value.key, configEntry(value)]));

test('every key has its value, source and default', () => {
  expect(entries.get('svc.projectKey')).toMatchObject({
    value: 'shop',
    isSet: true,
    source: { kind: 'file', file: '/etc/project.json', line: 3, text: '/etc/project.json:3' },
    default: null,
    deprecated: null,
    layers: ['project'],
  });
  expect(entries.get('archive.root')).toMatchObject({
    value: '/srv/archive',
    source: { kind: 'environment', variable: 'SVC_ARCHIVE_ROOT' },
    default: '~/svc/archives',
    env: 'SVC_ARCHIVE_ROOT',
  });
  expect(entries.get('archive.syncToThoughts')).toMatchObject({
    value: false,
    isSet: true,
    source: { kind: 'default' },
    default: false,
  });
});

test('a secret is set or not, and says where from, and never what', () => {
  expect(entries.get('svc.tracker.apiToken')).toMatchObject({
    value: '********',
    isSet: true,
    isSecret: true,
    source: { file: '/etc/secrets.json' },
  });
  expect(JSON.stringify([...entries])).not.toContain('very-secret');
  const unset = [...entries.values()].filter(({ isSecret, isSet }) => isSecret && !isSet);
  expect(unset.length).toBeGreaterThan(0);
  for (const { value, source } of unset) expect([value, source.kind]).toEqual([null, 'unset']);
  const secrets = allFields().filter(({ field }) => field.secret);
  expect(secrets.every(({ field }) => field.default === undefined)).toBe(true);
});

test('what is deprecated says what to do', () => {
  expect(entries.get('otel.prometheusUrl')).toMatchObject({
    value: 'http://localhost:9090',
    deprecated: 'Rename it to otel.prometheusUrl.',
  });
});

test('a project by its key, or by its folder', () => {
  expect(projectEntry('/src/shop', values)).toEqual({
    id: 'shop',
    key: 'shop',
    name: 'Shop',
    folder: '/src/shop',
    repo: 'acme/web',
    ticketPrefix: 'SHO',
  });
  expect(projectEntry('/src/other', resolveConfig([], {}).values)).toMatchObject({
    id: '/src/other',
    repo: null,
  });
});
