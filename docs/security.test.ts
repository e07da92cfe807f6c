// SECURITY.md lists everything that a project file can cause, and each row names an existing test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allFields, deprecations } from '../packages/monitor/src/features/configure.ts';
import { readReference } from './mutations/conformance-rows.ts';

const root = join(import.meta.dirname, '..');
const rows = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `svc.'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every key that a project file may have is in the table of what it can cause', () => {
  const keys = allFields()
    .filter(({ field }) => field.layers.includes('project'))
    .map(({ path }) => path.join('.'));
  const old = deprecations.filter(({ layers }) => layers.includes('project')).map(({ key }) => key);
  const inTable = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key),
  );
  expect(inTable.toSorted()).toEqual([...keys, ...old].toSorted());
});

test.each(rows.map((cells) => [cells[1], cells[3] ?? '']))(
  '%s: the test that holds it is there',
  (_, held) => {
    for (const { file, fragment } of held.replaceAll('`', '').split('; ').map(readReference)) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(fragment).not.toBe('');
      expect(readFileSync(join(root, file), 'utf8')).toContain(fragment);
    }
  },
);
