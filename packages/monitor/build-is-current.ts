// Whether a build is newer than everything that it is made of, so that `npm run demo` does not build again.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const left = new Set(['dist', 'node_modules', 'e2e']);

/** Times of folders count too: a removed file changes that of its folder. A build or a source that is not there is not current. */
export function isCurrent(build: string, sources: readonly string[]): boolean {
  const built = statSync(build, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isOlder = (path: string): boolean => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.mtimeMs > built) return false;
    if (!found.isDirectory()) return true;
    return readdirSync(path).every(
      (name) => left.has(name) || /\.test\.tsx?$|\.tmp$/.test(name) || isOlder(join(path, name)),
    );
  };
  return sources.every(isOlder);
}
