import { describe, expect, it, test } from 'vitest';
import { changedVersions, isNoStepBack, readVersionFiles, versionProblems } from './versions.ts';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const files = new Map([
  ['version.txt', '1.0.0\n'],
  ['package.json', json({ name: 'workspace', version: '1.0.0', devDependencies: { vitest: '1.0.0' } })],
  [
    'packages/contract/package.json',
    json({ name: '@svc/contract', version: '1.0.0', dependencies: { zod: '1.0.0' } }),
  ],
  [
    'packages/a/package.json',
    json({ name: 'a', version: '1.0.0', devDependencies: { '@svc/contract': '1.0.0' } }),
  ],
  [
    'package-lock.json',
    json({
      name: 'workspace',
      version: '1.0.0',
      packages: {
        '': { name: 'workspace', version: '1.0.0' },
        'node_modules/zod': { version: '1.0.0' },
        'packages/a': { name: 'a', version: '1.0.0', devDependencies: { '@svc/contract': '1.0.0' } },
      },
    }),
  ],
  ['schemas/openapi.json', json({ info: { title: 'x', version: '1.0.0' }, paths: { version: '1.0.0' } })],
  ['relay.yaml', 'image: svc-relay:1.0.0\nimage: nats:1.0.0\n'],
]);

describe('the version', () => {
  it('is the same everywhere', () => expect(versionProblems(files, '1.0.0')).toEqual([]));

  it('is written in all our files, and nowhere else', () => {
    const after = changedVersions(files, '1.1.0');
    expect([...after.keys()]).toEqual([...files.keys()]);
    expect(versionProblems(after, '1.1.0')).toEqual([]);
    expect(after.get('packages/a/package.json')).toContain('"@svc/contract": "1.1.0"');
    expect(after.get('packages/contract/package.json')).toContain('"zod": "1.0.0"');
    expect(after.get('package.json')).toContain('"vitest": "1.0.0"');
    const lock = after.get('package-lock.json') ?? '';
    expect([lock.match(/1\.1\.0/g)?.length, lock.match(/1\.0\.0/g)?.length]).toEqual([4, 1]);
    expect(after.get('schemas/openapi.json')).toBe(
      json({ info: { title: 'x', version: '1.1.0' }, paths: { version: '1.0.0' } }),
    );
    expect(after.get('relay.yaml')).toBe('image: svc-relay:1.1.0\nimage: nats:1.0.0\n');
  });

  it.each([
    ['a package', 'packages/a/package.json', json({ name: 'a', version: '0.9.0' })],
    [
      'a pin',
      'packages/a/package.json',
      json({ name: 'a', version: '1.0.0', dependencies: { '@svc/contract': '0.9.0' } }),
    ],
    ['an image', 'relay.yaml', 'image: svc-relay:0.9.0\n'],
  ])('is checked in %s', (_, path, text) => {
    expect(versionProblems(new Map([...files, [path, text]]), '1.0.0')).toEqual([
      `${path} has a version other than 1.0.0`,
    ]);
  });

  it('is the same everywhere in this repository', () => {
    const own = readVersionFiles();
    expect(own.size).toBeGreaterThan(9);
    expect(versionProblems(own, (own.get('version.txt') ?? '').trim())).toEqual([]);
  });
});

test.each([
  ['1.0.0', '1.0.0', true],
  ['1.0.1', '1.0.0', true],
  ['1.10.0', '1.9.9', true],
  ['2.0.0', '1.99.99', true],
  ['1.9.0', '1.10.0', false],
  ['0.9.9', '1.0.0', false],
  ['1.0', '1.0.0', false],
  ['v1.0.1', '1.0.0', false],
  ['1.0.1-beta', '1.0.0', false],
  ['01.0.0', '1.0.0', false],
])('%s after %s: %s', (next, last, allowed) => expect(isNoStepBack(next, last)).toBe(allowed));
