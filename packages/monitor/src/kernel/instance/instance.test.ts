import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { Failure } from '../failure.ts';
import { type DaemonRecord, isHeld, readRecord } from './daemon-record.ts';
import { claimInstance } from './instance.ts';

const record: DaemonRecord = {
  state: 'running',
  instance: '00000000-0000-4000-8000-000000000001',
  pid: 4321,
  port: 7400,
  url: 'http://127.0.0.1:7400',
  version: '1.2.3',
  startedAt: '2026-01-02T03:04:05.678Z',
};

test('a data root has one instance at a time', () => {
  const dataDir = temporaryFolder();
  const first = claimInstance(dataDir);
  expect(first).toBeDefined();
  expect(claimInstance(dataDir)).toBeUndefined();
  expect(isHeld(dataDir)).toBe(true);
  first?.withdraw();
  expect(isHeld(dataDir)).toBe(false);
  const second = claimInstance(dataDir);
  expect(second).toBeDefined();
  second?.withdraw();
});

test('only its owner can read the record; it is removed with the instance, and leaves no other file', async () => {
  const dataDir = join(temporaryFolder(), 'new', 'root');
  const instance = claimInstance(dataDir);
  await instance?.announce(record);
  expect(readRecord(dataDir)).toEqual(record);
  expect(statSync(join(dataDir, 'daemon.json')).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  instance?.withdraw();
  expect(readRecord(dataDir)).toBeUndefined();
  expect(readdirSync(dataDir)).toEqual(['daemon.lock']);
  expect(readFileSync(join(dataDir, 'daemon.lock'), 'utf8')).toBe('');
});

test.each([
  ['a file that is no lock', (path: string) => writeFileSync(path, 'no lock '.repeat(100))],
  ['a folder', (path: string) => mkdirSync(path)],
  ['a link to itself', (path: string) => symlinkSync('daemon.lock', path)],
  ['a link to nothing', (path: string) => symlinkSync('/nowhere/at/all', path)],
  ['a link to a device', (path: string) => symlinkSync('/dev/null', path)],
])('%s in the place of the lock is named, not the data root', (_what, damage) => {
  const dataDir = temporaryFolder();
  const lock = join(dataDir, 'daemon.lock');
  damage(lock);
  expect(() => claimInstance(dataDir)).toThrow(
    expect.objectContaining({
      code: 'file-unusable',
      message: expect.stringContaining(`${lock} cannot be used as the lock`),
      remedy: expect.stringContaining(`rm -r ${lock}`),
    }),
  );
});

test('a folder in the place of the record is named by a start, and does not stop the end of a daemon', async () => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'daemon.json');
  const instance = claimInstance(dataDir);
  await instance?.announce(record);
  rmSync(path);
  mkdirSync(path);
  instance?.withdraw();
  expect(isHeld(dataDir)).toBe(false);
  for (let times = 0; times < 2; times += 1)
    expect(() => claimInstance(dataDir)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`${path} cannot be replaced`),
        remedy: expect.stringContaining(`rm -r ${path}`),
      }),
    );
});

test('the next daemon removes the leftovers of a killed one', () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify(record));
  const instance = claimInstance(dataDir);
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false);
  instance?.withdraw();
});

test.each([
  ['daemon.lock', 'daemon.lock was removed while the daemon (pid 4321) held it'],
  ['.', 'was removed or replaced while the daemon (pid 4321) was running'],
])('%s is removed: it is reported with the pid, and the data root is locked again', async (gone, words) => {
  const dataDir = join(temporaryFolder(), 'svc');
  const instance = claimInstance(dataDir);
  if (instance === undefined) throw new Error('the data root is not free');
  await instance.announce(record);
  expect(instance.trouble()).toBeNull();
  rmSync(join(dataDir, gone), { recursive: true });
  expect(instance.trouble()).toContain(words);
  expect(isHeld(dataDir)).toBe(false);
  expect(await instance.keep()).toBe('held');
  expect(isHeld(dataDir)).toBe(true);
  expect(readRecord(dataDir)).toEqual(record);
  expect(instance.trouble()).toContain(words);
  instance.withdraw();
  expect(isHeld(dataDir)).toBe(false);
});

test('a data root that another process took after its lock was removed is lost, and left alone', async () => {
  const dataDir = temporaryFolder();
  const first = claimInstance(dataDir);
  await first?.announce(record);
  rmSync(join(dataDir, 'daemon.lock'));
  const second = claimInstance(dataDir);
  await second?.announce({ ...record, pid: 5 });
  expect(await first?.keep()).toBe('lost');
  first?.withdraw();
  expect(readRecord(dataDir)).toMatchObject({ pid: 5 });
  expect(isHeld(dataDir)).toBe(true);
  second?.withdraw();
});

test('a folder that is replaced around the held lock is not lost', async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'svc');
  const instance = claimInstance(dataDir);
  renameSync(dataDir, join(folder, 'old'));
  mkdirSync(dataDir);
  renameSync(join(folder, 'old/daemon.lock'), join(dataDir, 'daemon.lock'));
  expect(await instance?.keep()).toBe('held');
  expect(instance?.trouble()).toContain('was removed or replaced');
  instance?.withdraw();
});

test('checking creates nothing', () => {
  const dataDir = join(temporaryFolder(), 'absent');
  expect(isHeld(dataDir)).toBe(false);
  expect(readRecord(dataDir)).toBeUndefined();
  expect(existsSync(dataDir)).toBe(false);
});

test('processes that only check do not prevent a daemon from starting', () => {
  const dataDir = temporaryFolder();
  claimInstance(dataDir)?.withdraw();
  for (let check = 0; check < 50; check += 1) expect(isHeld(dataDir)).toBe(false);
  expect(claimInstance(dataDir)).toBeDefined();
});

test.each([
  ['not JSON', '{"pid": '],
  ['not a record', '[]'],
  ['one with an invalid pid', JSON.stringify({ ...record, pid: -1 })],
  ['one with an invalid port', JSON.stringify({ ...record, port: 70_000 })],
  ['one without an instance', JSON.stringify({ ...record, instance: undefined })],
])('a record that is %s is ignored', (_, text) => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'daemon.json'), text);
  expect(readRecord(dataDir)).toBeUndefined();
});

test('an unusable data root is a failure with a remedy', () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'file');
  writeFileSync(dataDir, '');
  expect(() => claimInstance(dataDir)).toThrow(
    expect.objectContaining({ code: 'file-unusable', remedy: expect.stringContaining('SVC_DATA_DIR') }),
  );
  expect(() => claimInstance(dataDir)).toThrow(Failure);
});
