// One version for everything: version.txt, every package.json and the lock file have the same, and so do the pins
// between packages of this repository. Pure; release.ts reads and writes the files.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lock } from './licences.ts';

type Manifest = {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

const KINDS = ['dependencies', 'devDependencies'] as const;

/** Files with the version, by path, including `version.txt`. */
export type VersionFiles = ReadonlyMap<string, string>;

/** One line for each file with another version. */
export function versionProblems(files: VersionFiles, version: string): string[] {
  return [...files].flatMap(([path, text]) =>
    text === withVersion(path, text, version, ourNames(files))
      ? []
      : [`${path} has a version other than ${version}`],
  );
}

/** The same files with the new version; unchanged ones are left out. */
export function changedVersions(files: VersionFiles, version: string): Map<string, string> {
  const changed = new Map<string, string>();
  for (const [path, text] of files) {
    const after = withVersion(path, text, version, ourNames(files));
    if (after !== text) changed.set(path, after);
  }
  return changed;
}

/** Names of the packages of this repository: pins on them are updated too. */
function ourNames(files: VersionFiles): Set<string> {
  const manifests = [...files].filter(([path]) => path.endsWith('package.json'));
  return new Set(manifests.map(([, text]) => (JSON.parse(text) as Manifest).name));
}

function withVersion(path: string, text: string, version: string, ours: ReadonlySet<string>): string {
  if (path === 'version.txt') return `${version}\n`;
  if (path.endsWith('package-lock.json')) return printJson(lockWith(JSON.parse(text) as Lock, version, ours));
  if (path.endsWith('package.json'))
    return printJson(manifestWith(JSON.parse(text) as Manifest, version, ours));
  if (path.endsWith('openapi.json')) {
    const document = JSON.parse(text) as { info: object };
    return printJson({ ...document, info: { ...document.info, version } });
  }
  // Manifests with our container image.
  return text.replaceAll(/(image: svc-relay:)\S+/g, `$1${version}`);
}

function lockWith(lock: Lock & { version?: string }, version: string, ours: ReadonlySet<string>): Lock {
  const packages = Object.entries(lock.packages).map(
    ([path, entry]) =>
      [path, path.includes('node_modules/') ? entry : manifestWith(entry, version, ours)] as const,
  );
  return {
    ...lock,
    ...(lock.version === undefined ? {} : { version }),
    packages: Object.fromEntries(packages),
  };
}

function manifestWith<T extends Partial<Manifest>>(
  manifest: T,
  version: string,
  ours: ReadonlySet<string>,
): T {
  const after = { ...manifest, version };
  for (const kind of KINDS) {
    const pins = manifest[kind];
    if (pins === undefined) continue;
    after[kind] = Object.fromEntries(
      Object.entries(pins).map(([name, range]) => [name, ours.has(name) ? version : range]),
    );
  }
  return after;
}

/** The tag of a release has the version of its commit. */
export function tagProblem(tag: string | undefined, version: string): string | undefined {
  if (tag === `v${version}`) return undefined;
  return `The tag is ${tag ?? 'not known'}, but version.txt has ${version}: the tag must be v${version}`;
}

/** In the format of npm and of our schemas. */
const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Whether `next` comes after `last`, or is the same: the first release has the current version. */
export function isNoStepBack(next: string, last: string): boolean {
  const [a, b] = [numbersOf(next), numbersOf(last)];
  if (a === undefined || b === undefined) return false;
  for (const [at, part] of a.entries()) if (part !== b[at]) return part > (b[at] ?? 0);
  return true;
}

/** Three numbers only: there are no pre-releases. */
function numbersOf(version: string): number[] | undefined {
  return /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version) ? version.split('.').map(Number) : undefined;
}

// The files that contain the version of this repository.

export const root = join(import.meta.dirname, '..');

const PLACES = [
  'version.txt',
  'package.json',
  'packages/*/package.json',
  'package-lock.json',
  'schemas/openapi.json',
  'examples/relay/kubernetes/relay.yaml',
];

export function readVersionFiles(): VersionFiles {
  const paths = PLACES.flatMap((place) => globSync(place, { cwd: root }).toSorted());
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export const currentVersion = (): string => readFileSync(join(root, 'version.txt'), 'utf8').trim();
