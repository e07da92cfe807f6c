import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { followLines, lastLines, openLogFile } from './log-file.ts';

function logIn(folder: string, maxBytes?: number) {
  const path = join(folder, 'logs', 'monitor.log');
  let time = Date.parse('2026-01-02T03:04:05.678Z');
  const log = openLogFile(path, () => new Date(time), maxBytes);
  onTestFinished(() => log.close());
  return {
    path,
    write: (line: string) => log.write(`${line}\n`),
    later: (milliseconds: number) => (time += milliseconds),
    read: () => readFileSync(path, 'utf8'),
  };
}

const linesOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

test('only its owner can read the log, even if it was open to others', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'logs', 'monitor.log');
  mkdirSync(dirname(path));
  writeFileSync(path, 'before\n');
  chmodSync(path, 0o644);
  const { write, read } = logIn(folder);
  write('one');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(read()).toBe('before\none\n');
});

test('a full log is rotated, also at start, and one old file is kept', () => {
  const folder = temporaryFolder();
  const { path, write, read } = logIn(folder, 100);
  for (const line of linesOf(100)) write(line);
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['monitor.log', 'monitor.log.1']);
  expect(statSync(`${path}.1`).size).toBeLessThan(110);
  expect(read().trimEnd().split('\n').at(-1)).toBe('line 99');
  const [before] = [read()];
  appendFileSync(path, 'x'.repeat(100));
  logIn(folder, 100).write('next');
  expect(readFileSync(`${path}.1`, 'utf8')).toContain(before);
  expect(read()).toBe('next\n');
});

test('a log that was moved away or truncated continues under its name', () => {
  const { path, write, later, read } = logIn(temporaryFolder());
  write('one');
  renameSync(path, `${path}.mine`);
  later(60_000);
  write('two');
  expect(read()).toBe('two\n');
  writeFileSync(path, '');
  write('three');
  expect(read()).toBe('three\n');
});

test('a log that cannot be rotated keeps growing', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'logs', 'monitor.log.1', 'in-the-way'), { recursive: true });
  const { write, read } = logIn(folder, 50);
  for (const line of linesOf(20)) write(line);
  expect(read()).toBe(`${linesOf(20).join('\n')}\n`);
});

test('on a full disk lines are lost and counted, and the daemon continues', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'logs'));
  // Every write to this device fails as on a full disk.
  symlinkSync('/dev/full', join(folder, 'logs', 'monitor.log'));
  const { path, write, later, read } = logIn(folder);
  write('one');
  write('two');
  rmSync(path);
  later(60_000);
  write('three');
  const [first = '', second] = read().split('\n');
  expect(JSON.parse(first)).toMatchObject({ lost: 2, msg: 'log lines could not be written' });
  expect(second).toBe('three');
});

test('the last lines come from the end, across the rotation', () => {
  const { path, write } = logIn(temporaryFolder(), 1_000);
  for (const line of linesOf(150)) write(line);
  const shown = lastLines(path, 120)?.lines ?? [];
  expect(shown).toEqual(linesOf(shown.length, 150 - shown.length));
  expect(shown.length).toBeGreaterThan(100);
  expect(lastLines(path, 2)?.lines).toEqual(['line 148', 'line 149']);
  expect(lastLines(path, 0)?.lines).toEqual([]);
  expect(lastLines(join(path, '..', 'absent'), 5)).toBeUndefined();
});

test('lines longer than a chunk, and letters on its border, come out whole', () => {
  const path = join(temporaryFolder(), 'log');
  const long = 'ä'.repeat(200_001);
  writeFileSync(path, `first\n${long}\nlast without an end`);
  expect(lastLines(path, 2)?.lines).toEqual([long, 'last without an end']);
  expect(lastLines(path, 10)?.lines).toHaveLength(3);
});

test('following returns each line once, through a rotation', async () => {
  const { path, write } = logIn(temporaryFolder(), 1_000);
  write('line 0');
  const end = lastLines(path, 1)?.end;
  for (const line of linesOf(20, 1)) write(line);
  const enough = new AbortController();
  const seen: string[] = [];
  const following = followLines(
    path,
    end,
    (line) => {
      seen.push(line);
      if (seen.length === 20) for (const later of linesOf(130, 21)) write(later);
      if (line === 'line 150') enough.abort();
    },
    enough.signal,
  );
  await following;
  expect(seen).toEqual(linesOf(150, 1));
});

test('following waits for a log that does not exist yet', async () => {
  const path = join(temporaryFolder(), 'log');
  const enough = new AbortController();
  const seen: string[] = [];
  const following = followLines(
    path,
    undefined,
    (line) => {
      seen.push(line);
      enough.abort();
    },
    enough.signal,
  );
  writeFileSync(path, 'one\nhalf');
  await following;
  expect(seen).toEqual(['one']);
});
