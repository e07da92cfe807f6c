// The table stays applicable: rows and tests as the conformance table has them, code as it stands.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conformanceById } from './conformance-rows.ts';
import { applyMutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import { waits } from './rows/waits.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const rows = conformanceById(read('docs/conformance.md'));

test.each(mutations)('$row is held by the test, and can be broken', (mutation) => {
  const references = rows.get(mutation.row)?.heldBy.map(({ file, fragment }) => `${file} › ${fragment}`);
  if (!waits.includes(mutation)) expect(references).toContain(mutation.test ?? references?.[0]);
  const text = read(mutation.file);
  const broken = applyMutation(text, mutation);
  expect(broken).toMatchObject({ ok: true });
  if (!broken.ok) return;
  expect(broken.text).not.toBe(text);
  // A file that does not load shows nothing.
  if (!mutation.file.endsWith('.sh')) expect(stripTypeScriptTypes(broken.text)).not.toBe('');
});

test('a row stands once, and a test file is never what is broken', () => {
  expect(new Set(mutations.map(({ row }) => row)).size).toBe(mutations.length);
  expect(mutations.filter(({ file }) => /\.test\.ts$|\/testing\/|\/testkit\//.test(file))).toEqual([]);
});

test('every row has a mutation, unless it only says what something is for', () => {
  const broken = new Set(mutations.map(({ row }) => row));
  const without = [...rows.values()].filter(({ id }) => !broken.has(id));
  expect(without.filter(({ isMeaning }) => !isMeaning).map(({ id }) => id)).toEqual([]);
  expect([...rows.values()].filter(({ id, isMeaning }) => isMeaning && broken.has(id))).toEqual([]);
});
