import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { parseJson, readJsonFile } from './read-json.ts';

test.each([
  ['a comment', '{\n// no\n}', 2, 'comment'],
  ['a trailing comma', '{"a": 1,}', 1, 'property name expected'],
  ['a cut file', '{\n\n"a": ', 3, 'value expected'],
  ['an empty file', '', 1, 'value expected'],
  ['two documents', '{}\n{}', 2, 'end of file expected'],
  ['a key twice', '{\n"a": 1,\n"a": 2}', 3, 'has the key "a" twice'],
  ['deep nesting', '['.repeat(100_000), undefined, 'nested more than 64'],
])('%s is broken, with its line', (_, text, line, words) => {
  const read = parseJson('f.json', text);
  expect(read.state).toBe('broken');
  if (read.state !== 'broken') return;
  expect(read.problem).toMatchObject({ file: 'f.json', line, severity: 'error' });
  expect(read.problem.message).toContain(words);
});

test('brackets in strings do not count as nesting, and keys have lines', () => {
  const read = parseJson('f.json', `{\n"a": "${'['.repeat(500)}",\n"b": {\n"c": 1}}`);
  expect(read.state === 'read' && read.lineOf(['b', 'c'])).toBe(4);
});

test('absent, a folder, too large, a link to nothing', async () => {
  const folder = temporaryFolder();
  expect(await readJsonFile(join(folder, 'none.json'))).toEqual({ state: 'absent' });
  expect(await readJsonFile(folder)).toMatchObject({ state: 'broken', problem: { code: 'unreadable' } });
  writeFileSync(join(folder, 'large.json'), ' '.repeat(1024 * 1024 + 1));
  expect(await readJsonFile(join(folder, 'large.json'))).toMatchObject({ problem: { code: 'unreadable' } });
  symlinkSync('/nowhere', join(folder, 'link.json'));
  expect(await readJsonFile(join(folder, 'link.json'))).toMatchObject({
    problem: { code: 'unreadable', message: 'leads to nothing (ENOENT).' },
  });
});
