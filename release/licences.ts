// Which licences may ship. Applies to what npm installs with a package (the lock file without development dependencies)
// and to what is bundled into one (its notices).

export type Licensed = { name: string; version: string; licence: string | undefined };

/** Each of these lets anyone ship the code unchanged, if its text is included. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...'0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC'.split(' '),
  ...'MIT MIT-0 Python-2.0 Unlicense Zlib'.split(' '),
]);

/** By name and licence: a package that changes its licence is reviewed again. */
const EXCEPTIONS: readonly { name: string; licence: string; reason: string }[] = [
  {
    name: '@fontsource-variable/inter',
    licence: 'OFL-1.1',
    reason: 'a typeface: it may be bundled with any program as long as it is not sold separately',
  },
];

/** One line for each package whose licence is missing, unknown or not on the list. */
export function licenceProblems(packages: readonly Licensed[]): string[] {
  return packages.flatMap(({ name, version, licence }) => {
    if (licence === undefined || licence.trim() === '') return [`${name} ${version} has no licence`];
    if (isAllowed(licence)) return [];
    if (EXCEPTIONS.some((exception) => exception.name === name && exception.licence === licence)) return [];
    return [`${name} ${version} has the licence ${licence}, which is not on the list in release/licences.ts`];
  });
}

/** For `(A OR B)` one is enough, for `A AND B` both are needed. Mixed expressions need a person. */
export function isAllowed(expression: string): boolean {
  const inner = /^\(([^()]*)\)$/.exec(expression.trim())?.[1] ?? expression.trim();
  const choices = inner.split(/\s+OR\s+/);
  const parts = inner.split(/\s+AND\s+/);
  if (choices.length > 1 && parts.length > 1) return false;
  return choices.length > 1
    ? choices.some((licence) => ALLOWED.has(licence))
    : parts.every((licence) => ALLOWED.has(licence));
}

export type Lock = {
  packages: Record<string, LockEntry>;
};
type LockEntry = {
  name?: string;
  version?: string;
  license?: string;
  resolved?: string;
  dev?: boolean;
  link?: boolean;
  peerDependencies?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

/** What npm may install for a user of our packages, including optional ones. */
export function shippedOf(lock: Lock): Licensed[] {
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    const at = path.lastIndexOf('node_modules/');
    if (at === -1 || entry.dev === true || entry.link === true) return [];
    const name = entry.name ?? path.slice(at + 'node_modules/'.length);
    return [{ name, version: entry.version ?? '(no version)', licence: entry.license }];
  });
}
