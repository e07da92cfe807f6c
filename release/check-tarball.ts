// What must hold for one tarball: its contents, what its files say, what they import, and how they start.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { contentProblems } from './contents.ts';
import { dependencyProblems, importedPackages } from './imports.ts';
import { type Licensed, type Lock, licenceProblems } from './licences.ts';
import { declaredBy } from './manifest.ts';
import { NOTICES, readNotices } from './notices.ts';
import type { Tarball } from './pack.ts';
import type { PublishedPackage } from './packages.ts';
import { isText, textProblems } from './texts.ts';
import { root } from './version-files.ts';

/** Files that a program is made of. What the browser loads is bundled whole, and imports only its own. */
const isProgram = (path: string): boolean =>
  /(?:\.js|\.d\.ts)$/.test(path) && !path.startsWith('dist/dashboard/');

export function tarballProblems(
  each: PublishedPackage,
  tarball: Tarball,
  version: string,
  lock: Lock,
): string[] {
  const { packed, folder, manifest } = tarball;
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const texts = packed.files
    .filter(({ path }) => isText(path))
    .map(({ path }) => [path, read(path)] as const);
  const imported = new Set(
    texts.filter(([path]) => isProgram(path)).flatMap(([path, text]) => [...importedPackages(path, text)]),
  );
  const places = [root, `${homedir()}/`];
  return [
    ...contentProblems(each.contents, packed),
    ...texts.flatMap(([path, text]) => textProblems(text, places).map((problem) => `${path}: ${problem}`)),
    ...dependencyProblems({ imported, declared: declaredBy(manifest), peersOf: peersIn(lock) }),
    ...shebangProblems(packed.bin, read),
    ...licenceProblems(bundledOf(tarball)),
    ...(manifest.version === version
      ? []
      : [`its version is ${manifest.version}, and version.txt says ${version}`]),
    ...(manifest.license === 'MIT' ? [] : ['its package.json does not name the licence MIT']),
  ];
}

/** What the package has bundled, by its own notices. */
export function bundledOf({ folder, packed }: Tarball): Licensed[] {
  const notices = packed.files.find(({ path }) => path.endsWith(NOTICES));
  return notices === undefined ? [] : readNotices(readFileSync(join(folder, notices.path), 'utf8'));
}

function peersIn(lock: Lock): (name: string) => string[] {
  return (name) => Object.keys(lock.packages[`node_modules/${name}`]?.peerDependencies ?? {});
}

function shebangProblems(bin: Readonly<Record<string, string>>, read: (path: string) => string): string[] {
  return Object.values(bin)
    .filter((path) => !read(path).startsWith('#!'))
    .map((path) => `${path} does not say what runs it (#!)`);
}
