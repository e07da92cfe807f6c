// A copy of the working tree to break things in. Packages of our own resolve to the copy, all others to what is
// installed.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** What is made anew, and what no test reads. */
const leftOut = new Set(['node_modules', 'dist', '.git', '.vitest', 'coverage', 'images', 'screenshots']);

export type CopiedTree = { folder: string; remove: () => void };

export function copyTree(root: string): CopiedTree {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutations-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    cpSync(root, folder, {
      recursive: true,
      // The web app as it was built: its tests open it in a browser.
      filter: (path) => path === root || path.endsWith('dashboard/dist') || !leftOut.has(basename(path)),
    });
    linkModules(root, folder);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function linkModules(root: string, folder: string): void {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(join(to, '@svc'), { recursive: true });
  const ours = new Map(
    readdirSync(join(folder, 'packages')).map((name) => [nameOfPackage(folder, name), name]),
  );
  for (const [packageName, name] of ours) symlinkSync(join(folder, 'packages', name), join(to, packageName));
  for (const name of readdirSync(from)) {
    // Caches of tools are not shared: what is broken here must not be found there.
    const isCache = name.startsWith('.') && name !== '.bin';
    if (!isCache && name !== '@svc' && !ours.has(name)) symlinkSync(join(from, name), join(to, name));
  }
}

function nameOfPackage(folder: string, name: string): string {
  const description = readFileSync(join(folder, 'packages', name, 'package.json'), 'utf8');
  return (JSON.parse(description) as { name: string }).name;
}
