// Which files of the repository are pages of the site.
import { existsSync, globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { outsidePages } from './addresses.ts';

export const repository = join(import.meta.dirname, '../..');

export function allPages(root = repository): Set<string> {
  const inDocs = globSync('docs/**/*.md', { cwd: root, exclude: (path) => path.endsWith('docs/site') });
  const outside = outsidePages.filter((file) => existsSync(join(root, file)));
  return new Set([...inDocs.map((file) => file.replaceAll(sep, '/')), ...outside].toSorted());
}
