import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonRecord } from '@svc/core';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { Failure } from '../errors.ts';
import { claimInstance, isHeld, readRecord } from './instance.ts';

const record: DaemonRecord = {
  state: 'running',
  instance: '00000000-0000-4000-8000-000000000001',
  pid: 4321,
  port: 7400,
  url: 'http://127.0.0.1:7400',
  version: '1.2.3',
  startedAt: '2026-01-02T03:04:05.678Z',
};

test('a data root has one instance, and another only after it', () => {
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

test('the record is for its owner alone, goes with the instance, and leaves no other file', async () => {
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

test('what a killed daemon left is gone as soon as the next one claims', () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify(record));
  const instance = claimInstance(dataDir);
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false);
  instance?.withdraw();
});

test('looking makes nothing', () => {
  const dataDir = join(temporaryFolder(), 'absent');
  expect(isHeld(dataDir)).toBe(false);
  expect(readRecord(dataDir)).toBeUndefined();
  expect(existsSync(dataDir)).toBe(false);
});

test('those who only look are not seen, and do not keep a daemon from starting', () => {
  const dataDir = temporaryFolder();
  claimInstance(dataDir)?.withdraw();
  for (let look = 0; look < 50; look += 1) expect(isHeld(dataDir)).toBe(false);
  expect(claimInstance(dataDir)).toBeDefined();
});

test.each([
  ['not JSON', '{"pid": '],
  ['not a record', '[]'],
  ['a pid that is no pid', JSON.stringify({ ...record, pid: -1 })],
  ['a port that is no port', JSON.stringify({ ...record, port: 70_000 })],
  ['no instance', JSON.stringify({ ...record, instance: undefined })],
])('a record that is %s is no hint', (_, text) => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'daemon.json'), text);
  expect(readRecord(dataDir)).toBeUndefined();
});

test('a data root that cannot be one is a failure with a remedy', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'daemon.lock'));
  for (const dataDir of [join(folder, 'file'), folder]) {
    expect(() => claimInstance(dataDir)).toThrow(
      expect.objectContaining({ code: 'file-unusable', remedy: expect.stringContaining('SVC_DATA_DIR') }),
    );
    expect(() => claimInstance(dataDir)).toThrow(Failure);
  }
});
