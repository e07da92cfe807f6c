import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, it, test } from 'vitest';
import { bundledIn, noticesText, packageFolderOf, readBundled, readNotices } from './notices.ts';

test.each([
  ['/r/node_modules/zod/v4/index.js', '/r/node_modules/zod'],
  ['/r/node_modules/@scope/a/dist/x.js?commonjs', '/r/node_modules/@scope/a'],
  ['\0/r/node_modules/a/node_modules/@s/b/x.js', '/r/node_modules/a/node_modules/@s/b'],
  ['/r/packages/contract/src/index.ts', undefined],
  ['\0rolldown/runtime.js', undefined],
])('%s is of %s', (module, folder) => expect(packageFolderOf(module)).toBe(folder));

describe('notices', () => {
  const mit = (name: string) => ({ name, version: '1.0.0', licence: 'MIT', words: 'Be kind.' });

  it('list every package, and include the same text once', () => {
    const text = noticesText([
      mit('b'),
      mit('a'),
      { ...mit('c'), licence: undefined, words: 'Other words.' },
    ]);
    expect(text.match(/Be kind\./g)).toHaveLength(1);
    expect(text).toContain('a 1.0.0\nb 1.0.0\n\nBe kind.');
    expect(readNotices(text)).toEqual([
      { name: 'a', version: '1.0.0', licence: 'MIT' },
      { name: 'b', version: '1.0.0', licence: 'MIT' },
      { name: 'c', version: '1.0.0', licence: undefined },
    ]);
  });

  it('state that there is nothing to list', () => {
    expect(noticesText([])).toContain('None:');
    expect(readNotices(noticesText([]))).toEqual([]);
  });

  it('are not confused by a list in a licence', () => {
    const text = noticesText([{ ...mit('a'), words: '- not a (package)' }]);
    expect(readNotices(text)).toHaveLength(1);
  });

  it('use the licence and the notices of the package itself', () => {
    const folder = join(temporaryFolder(), 'node_modules', 'x');
    mkdirSync(folder, { recursive: true });
    const manifest = { name: 'x', version: '2.0.0', license: 'Apache-2.0' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    expect(noticesText([readBundled(folder)])).toContain(
      'without a licence text. Its package.json states: Apache-2.0',
    );
    writeFileSync(join(folder, 'LICENSE.md'), 'The licence.\r\nSecond line.\n');
    writeFileSync(join(folder, 'NOTICE'), 'The notice.\n');
    const twice = noticesText([readBundled(folder), readBundled(folder)]);
    expect(twice).toContain('x 2.0.0\n\nThe licence.\nSecond line.\n\nThe notice.\n');
    expect(readNotices(twice)).toHaveLength(1);
    expect(bundledIn([join(folder, 'a.js'), join(folder, 'b', 'c.js'), '/srv/own.ts'])).toHaveLength(1);
  });

  it('are rejected for a package that cannot be read', () => {
    expect(() => readBundled(temporaryFolder())).toThrow('has no package.json');
  });
});
