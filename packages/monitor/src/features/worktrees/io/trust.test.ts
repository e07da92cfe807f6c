import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { Config } from '../../config.ts';
import { hurry } from '../testing/hurry.ts';
import { createTrust } from './trust.ts';

function trustIn(home: string, agent: string[] = ['claude']) {
  const locks = createFileLocks({ folder: join(home, 'locks'), timeoutMs: WAIT_MS });
  const config = Config.parse({ svc: { orchestration: { agent } } });
  return { file: join(home, '.claude.json'), trust: createTrust({ home, config, locks }) };
}

test('unknown content survives, byte for byte, and removal takes only its own entry', async () => {
  const { file, trust } = trustIn(temporaryFolder());
  const before = '{\n\t"numStartups": 12345678901234567890,\n\t"projects": {\n\t\t"/a": {"x":1}\n\t}\n}\n';
  writeFileSync(file, before, { mode: 0o600 });
  expect(await trust.add('/w/"t"')).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toContain('12345678901234567890');
  expect(JSON.parse(readFileSync(file, 'utf8')).projects).toEqual({
    '/a': { x: 1 },
    '/w/"t"': { hasTrustDialogAccepted: true },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await trust.remove('/w/"t"')).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test('what the agent stores for the folder stays beside it', async () => {
  const { file, trust } = trustIn(temporaryFolder());
  writeFileSync(file, '{"projects":{"/w":{"allowedTools":["x"],"hasTrustDialogAccepted":false}}}');
  await trust.add('/w');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    projects: { '/w': { allowedTools: ['x'], hasTrustDialogAccepted: true } },
  });
});

test('a missing file is created only if the agent is used', async () => {
  const without = trustIn(temporaryFolder(), ['other-agent']);
  expect(await without.trust.add('/w')).toBeUndefined();
  expect(existsSync(without.file)).toBe(false);
  const home = temporaryFolder();
  mkdirSync(join(home, '.claude'));
  const other = trustIn(home, ['other-agent']);
  await other.trust.add('/w');
  expect(statSync(other.file).mode & 0o777).toBe(0o600);
  const configured = trustIn(temporaryFolder(), ['/opt/bin/claude', '-p']);
  await configured.trust.add('/w');
  expect(existsSync(configured.file)).toBe(true);
  const removed = trustIn(temporaryFolder());
  expect(await removed.trust.remove('/w')).toBeUndefined();
  expect(existsSync(removed.file)).toBe(false);
});

test.each([
  ['{"projects":', 'is not valid JSON'],
  ['[]', 'is not a JSON object'],
  ['{"projects":[]}', 'projects that are not an object'],
  ['{"projects":{"/w":7}}', 'not an object'],
  ['', 'is not valid JSON'],
])('corrupt: %j is not changed, with a warning', async (text, words) => {
  const { file, trust } = trustIn(temporaryFolder());
  writeFileSync(file, text);
  expect(await trust.add('/w')).toContain(words);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('the agent’s own lock is respected, and one that a crash left is not', async () => {
  const { file, trust } = trustIn(temporaryFolder());
  mkdirSync(`${file}.lock`);
  // However long the wait takes here, the lock is not stale.
  const ahead = new Date(Date.now() + 3_600_000);
  utimesSync(`${file}.lock`, ahead, ahead);
  const usualTime = hurry(50);
  expect(await trust.add('/w')).toContain('the agent is changing it');
  usualTime();
  expect(existsSync(file)).toBe(false);
  utimesSync(`${file}.lock`, 1, 1);
  expect(await trust.add('/w')).toBeUndefined();
  expect(existsSync(file)).toBe(true);
});

test('many at once: none is lost', async () => {
  const { file, trust } = trustIn(temporaryFolder());
  await Promise.all(Array.from({ length: 20 }, (_, at) => trust.add(`/w/${at}`)));
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).projects)).toHaveLength(20);
});
