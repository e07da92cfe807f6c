import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { driftWarning, measureDrift, ownVersion } from './version-drift.ts';

function cacheWith(...names: string[]): string {
  const root = temporaryFolder();
  for (const name of names) mkdirSync(join(root, name));
  return root;
}

describe('drift', () => {
  test.each([
    ['older', '1.2.0', ['1.1.0', '1.10.0', '1.9.0'], '1.10.0', true],
    ['the same', '1.10.0', ['1.1.0', '1.10.0'], '1.10.0', false],
    ['newer', '2.0.0', ['1.10.0'], '1.10.0', false],
    ['a pre-release of the latest', '1.0.0-rc.1', ['1.0.0'], '1.0.0', true],
    ['pre-releases by number', '1.0.0-rc.2', ['1.0.0-rc.2', '1.0.0-rc.10'], '1.0.0-rc.10', true],
    ['a pre-release above the last release', '1.0.0', ['1.0.0', '1.1.0-beta.1'], '1.1.0-beta.1', true],
    ['another build of the same', '1.0.0', ['1.0.0+7'], '1.0.0+7', false],
    ['names that are not versions', '1.0.0', ['latest', '1.2', 'v2.0.0', '1.0.0.0', '01.0.0'], null, false],
    ['an empty cache', '1.0.0', [], null, false],
    ['a running version that is not semantic', 'main', ['1.0.0'], '1.0.0', false],
  ])('%s', async (_, runningVersion, names, latestAvailableVersion, isStale) => {
    expect(await measureDrift(runningVersion, cacheWith(...names))).toEqual({
      runningVersion,
      latestAvailableVersion,
      isStale,
    });
  });

  test('without a cache there is no latest version', async () => {
    expect(await measureDrift('1.0.0', join(temporaryFolder(), 'absent'))).toMatchObject({
      latestAvailableVersion: null,
      isStale: false,
    });
  });

  test('a file is not a version, a link to a folder is', async () => {
    const root = cacheWith('1.0.0');
    writeFileSync(join(root, '3.0.0'), '');
    symlinkSync(join(root, 'nowhere'), join(root, '4.0.0'));
    symlinkSync(join(root, '1.0.0'), join(root, '2.0.0'));
    expect((await measureDrift('1.0.0', root)).latestAvailableVersion).toBe('2.0.0');
  });
});

test('the version is the version file’s, else the build’s', () => {
  const file = join(temporaryFolder(), 'version.txt');
  expect(ownVersion(undefined, '0.9.0')).toBe('0.9.0');
  expect(ownVersion(file, '0.9.0')).toBe('0.9.0');
  writeFileSync(file, ' 1.2.3\n');
  expect(ownVersion(file, '0.9.0')).toBe('1.2.3');
  writeFileSync(file, '\n');
  expect(ownVersion(file, '0.9.0')).toBe('0.9.0');
});

describe('the warning has the command that fixes it', () => {
  const drift = (runningVersion: string, latest: string | null, isStale: boolean) => ({
    runningVersion,
    latestAvailableVersion: latest,
    isStale,
  });

  test('the newer version’s own script, if it has one', () => {
    const root = cacheWith('2.0.0');
    const script = join(root, '2.0.0', 'bin', 'svc-monitor.sh');
    expect(driftWarning(drift('1.0.0', '2.0.0', true), '1.0.0', root)?.remedy).toBe(
      'Update svc, then run: svc monitor restart',
    );
    mkdirSync(dirname(script));
    writeFileSync(script, '');
    expect(driftWarning(drift('1.0.0', '2.0.0', true), '1.0.0', root)).toEqual({
      warning: 'version 1.0.0 is older than the installed 2.0.0.',
      remedy: `Switch to it: '${script}' restart`,
    });
  });

  test('an update, if the called svc is older than the daemon', () => {
    expect(driftWarning(drift('1.1.0', null, false), '1.0.0', cacheWith())).toEqual({
      warning: 'this svc (1.0.0) is older than the daemon, which runs version 1.1.0.',
      remedy: 'Update svc, or find the newer one: type -a svc',
    });
  });

  test('a restart, if the called svc is the newer one', () => {
    const remedy = 'Switch to it: svc monitor restart';
    expect(driftWarning(drift('1.0.0', '2.0.0', true), '2.0.0', '/cache')?.remedy).toBe(remedy);
    expect(driftWarning(drift('1.0.0', null, false), '1.1.0', '/cache')?.remedy).toBe(remedy);
  });

  test('nothing without drift', () => {
    expect(driftWarning(drift('1.0.0', '1.0.0', false), '1.0.0', '/cache')).toBeUndefined();
    expect(driftWarning(drift('1.1.0', null, false), '0.0.0-source', '/cache')).toBeUndefined();
  });
});
