import { expect, test } from 'vitest';
import { type BackupManifest, backupDamage, isBackupPath } from './manifest.ts';
import { secretPathsIn } from './secret-paths.ts';

test.each([
  ['events/2026-11.jsonl', true],
  ['runs/run-1/workers/ABC-1.json', true],
  ['/etc/passwd', false],
  ['events/../../etc/passwd', false],
  ['events/./x', false],
  ['events//x', false],
  ['events', false],
  ['other/x', false],
  ['events/a\nb', false],
  ['events/a\\b', false],
  ['', false],
])('%j may be in a backup: %s', (path, may) => {
  expect(isBackupPath(path)).toBe(may);
});

test('what was unpacked is held against the manifest', () => {
  const manifest = { files: [{ path: 'events/a', size: 1, sha256: 'x' }] } as BackupManifest;
  const whole = { size: 1, sha256: 'x' };
  expect(backupDamage(manifest, new Map([['events/a', whole]]))).toBeUndefined();
  expect(backupDamage(manifest, new Map())).toBe('events/a is missing');
  expect(backupDamage(manifest, new Map([['events/a', { size: 1, sha256: 'y' }]]))).toBe(
    'events/a is damaged',
  );
  expect(
    backupDamage(
      manifest,
      new Map([
        ['events/a', whole],
        ['events/b', whole],
      ]),
    ),
  ).toBe('events/b is not in its manifest');
});

test('secrets by schema, by look, and whatever nobody knows', () => {
  const data = {
    svc: {
      projectKey: 'demo',
      tracker: { apiToken: 'abc', teamKey: 'ABC' },
      linear: { apiToken: 'vendor word' },
      monitor: { github: { smeeChannel: 'https://relay.example/x' } },
    },
    mine: { note: 'what is it', count: 3 },
    otel: { prometheusUrl: 'http://ann:pass@127.0.0.1:9090' },
  };
  expect(secretPathsIn(data).map((path) => path.join('.'))).toEqual([
    'svc.tracker.apiToken',
    'svc.linear.apiToken',
    'mine.note',
    'otel.prometheusUrl',
  ]);
});
