import { describe, expect, test } from 'vitest';
import { withoutCredentials } from '../../kernel/config/public-value.ts';
import type { ConfigFile } from '../../kernel/config/resolved-value.ts';
import { growthOfCost } from '../../kernel/testing/growth-of-cost.ts';
import { allFields, resolveConfig } from '../configure.ts';
import { configEntry, projectEntry } from './config-report.ts';

const lineOf = () => 3;
const file = (layers: ConfigFile['layers'], data: unknown): ConfigFile => ({
  path: `/etc/${layers[0]}.json`,
  layers,
  reads: layers,
  data,
  lineOf,
});

const fingerprint = (address: string): string => `of ${address.length}`;

const { values, problems } = resolveConfig(
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
      svc: { tracker: { apiToken: 'very-secret', teamKey: 'SHO' } },
      otel: { prometheus: 'http://localhost:9090' },
    }),
  ],
  { SVC_ARCHIVE_ROOT: '/srv/archive' },
);
const entries = new Map(values.map((value) => [value.key, configEntry(value, problems, fingerprint)]));

test('every key has the places where it was looked for, and no secret in them', () => {
  expect(entries.get('archive.root')?.lookedAt[0]).toEqual({
    where: 'environment SVC_ARCHIVE_ROOT',
    found: true,
    value: '/srv/archive',
    note: null,
  });
  const token = entries.get('svc.tracker.apiToken')?.lookedAt.find(({ found }) => found);
  expect(token).toMatchObject({ where: '/etc/secrets.json:3', value: '********' });
  expect(JSON.stringify([...entries.values()])).not.toContain('very-secret');
});

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

test('a secret shows whether it is set and its source, never its value', () => {
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

describe('an address', () => {
  const [channel, hook] = ['https://relay.example/Zx81channel', 'https://chat.example/hooks/T0/B1/key'];
  const given = resolveConfig(
    [
      file(['global', 'secrets'], {
        svc: {
          monitor: {
            github: { smeeChannel: channel },
            linear: { smeeChannel: channel, webhookUrl: channel },
          },
          notify: { webhook: { url: hook }, ntfy: { url: 'https://ntfy.example/my-topic' } },
          commands: { page: { argv: ['curl', '-H', 'Authorization: Bearer tok3n'] } },
        },
        otel: { prometheusUrl: 'http://ada:p@ss2@metrics.example:9090/p?q=1', lokiUrl: null },
      }),
    ],
    {},
  );
  const shown = new Map(given.values.map((value) => [value.key, configEntry(value, [], fingerprint).value]));

  test('that is itself a credential is shown as its origin, a channel with a fingerprint', () => {
    expect(given.problems).toEqual([]);
    for (const key of ['github.smeeChannel', 'linear.smeeChannel', 'linear.webhookUrl'])
      expect(shown.get(`svc.monitor.${key}`)).toBe('https://relay.example/******** (fingerprint of 33)');
    expect(shown.get('svc.notify.webhook.url')).toBe('https://chat.example/********');
    expect(shown.get('svc.notify.ntfy.url')).toBe('https://ntfy.example/********');
    expect(JSON.stringify([...shown])).not.toMatch(/Zx81channel|hooks\/T0|my-topic/);
  });

  test('with a password or a query is shown without them, and a command as its program', () => {
    expect(shown.get('otel.prometheusUrl')).toBe('http://********@metrics.example:9090/p?********');
    expect(shown.get('otel.lokiUrl')).toBeNull();
    expect(shown.get('svc.commands.page.argv')).toEqual(['curl', '********']);
    expect(JSON.stringify([...shown])).not.toMatch(/ada|ss2|q=1|tok3n/);
  });

  test('a long text is scanned once', () => {
    const read = (length: number) => withoutCredentials(`${'a'.repeat(length)}://${'a'.repeat(length)}`);
    expect(growthOfCost(read, 16_000)).toBeLessThan(6);
    expect(read(500_000)).toHaveLength(1_000_003);
  });

  test('is not in a message about it either', () => {
    const { problems: found } = resolveConfig(
      [file(['global', 'secrets'], { svc: { notify: { ntfy: { url: 'http://ntfy.example/my-topic' } } } })],
      { PROMETHEUS_URL: 'ftp://ada:pw1@metrics.example', SVC_RELAY_CHANNEL: 'Zx81channel' },
    );
    expect(found).toHaveLength(3);
    expect(JSON.stringify(found)).not.toMatch(/my-topic|pw1|Zx81channel/);
  });
});

test('a deprecated key shows how to fix it', () => {
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

test('of the gateway only the origin is shown: its path may be a key', () => {
  const data = { ai: { gateway: 'https://gateway.example/k-3f2a91c0/v1' } };
  const resolved = resolveConfig([file(['secrets'], data)], {});
  const entry = resolved.values.find(({ key }) => key === 'ai.gateway');
  expect(resolved.usable.ai.gateway).toBe(data.ai.gateway);
  expect(entry && configEntry(entry, [], fingerprint).value).toBe('https://gateway.example/********');
});
