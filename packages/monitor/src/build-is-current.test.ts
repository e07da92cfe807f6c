import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { isCurrent } from '../build-is-current.ts';

const [before, built, after] = [1_000, 2_000, 3_000];

/** A source tree that was built, and then changed. */
function isCurrentAfter(
  change: (folder: string, touch: (name: string, time: number) => void) => void,
): boolean {
  const folder = temporaryFolder();
  const touch = (name: string, time: number): void => utimesSync(join(folder, name), time, time);
  mkdirSync(join(folder, 'src/parts/dist'), { recursive: true });
  for (const name of ['src/a.ts', 'src/parts/b.ts', 'src/parts/b.test.ts', 'src/parts/dist/c.js', 'svc.js'])
    writeFileSync(join(folder, name), '');
  for (const name of ['src/a.ts', 'src/parts/b.ts', 'src/parts/b.test.ts', 'src/parts', 'src'])
    touch(name, before);
  touch('src/parts/dist/c.js', after);
  touch('svc.js', built);
  change(folder, touch);
  return isCurrent(join(folder, 'svc.js'), [join(folder, 'src')]);
}

test.each<[string, boolean, Parameters<typeof isCurrentAfter>[0]]>([
  ['nothing changed', true, () => undefined],
  ['a test changed', true, (_folder, touch) => touch('src/parts/b.test.ts', after)],
  ['a file changed', false, (_folder, touch) => touch('src/parts/b.ts', after)],
  ['a file was removed', false, (folder) => rmSync(join(folder, 'src/a.ts'))],
  ['nothing was built', false, (folder) => rmSync(join(folder, 'svc.js'))],
  ['the sources are gone', false, (folder) => rmSync(join(folder, 'src'), { recursive: true })],
])('a build is current if %s: %s', (_what, current, change) => expect(isCurrentAfter(change)).toBe(current));
