// The checks of one tarball: its contents, the text of its files, their imports, and how they start.
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { type Licensed, type Lock, licenceProblems } from './licences.ts';
import { NOTICES, readNotices } from './notices.ts';
import { declaredBy, type Packed, type Tarball } from './pack.ts';
import type { ContentsRule, PublishedPackage } from './packages.ts';
import { root } from './versions.ts';

// Whether an installed package finds its imports: exactly the imported packages are declared.

/** The packages that a file imports, also with `require` and `import()`. Without Node's own and relative ones. */
export function importedPackages(path: string, text: string): Set<string> {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  const specifiers: unknown[] = [];
  const note = ({ source }: { source: unknown }): void => {
    if (isLiteral(source)) specifiers.push(source.value);
  };
  new Visitor({
    ImportDeclaration: note,
    ExportNamedDeclaration: note,
    ExportAllDeclaration: note,
    ImportExpression: note,
    TSImportType: note,
    // The bundler's own name for it starts with two underscores.
    CallExpression({ callee, arguments: [given] }) {
      if (callee.type === 'Identifier' && /^_*require$/.test(callee.name)) note({ source: given });
    },
  }).visit(program);
  const names = specifiers.filter((specifier) => typeof specifier === 'string');
  return new Set(names.filter((name) => !/^[./#]|^[a-z]+:/.test(name) && !isBuiltin(name)).map(packageOf));
}

const isLiteral = (node: unknown): node is { value: unknown } =>
  typeof node === 'object' && node !== null && 'value' in node;

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** `peersOf`: the peer dependencies of a package, which its users have to install too. */
export function dependencyProblems(given: {
  imported: ReadonlySet<string>;
  declared: ReadonlySet<string>;
  peersOf: (name: string) => readonly string[];
}): string[] {
  const { imported, declared, peersOf } = given;
  const needed = new Set([...imported, ...[...imported].flatMap(peersOf)]);
  return [
    ...[...imported]
      .filter((name) => !declared.has(name))
      .map((name) => `${name} is imported but not declared`),
    ...[...declared]
      .filter((name) => !needed.has(name))
      .map((name) => `${name} is declared but not imported`),
  ];
}

// What no file of a package may contain: paths of the machine that built it, anything that looks like a secret, and a
// link to a source map. The report shows the line and the kind, never the secret itself.

const SECRETS: readonly [kind: string, shape: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*[A-Za-z0-9+/=]{16}/],
  ['a code-host token', /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/],
  ['a tracker token', /\blin_(?:api|oauth|wh)_[A-Za-z0-9]{20,}/],
  ['a model provider key', /\b(?:sk|xai)-[A-Za-z0-9_-]{24,}/],
  ['a cloud key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}/],
  ['a registry token', /\bnpm_[A-Za-z0-9]{36}\b|_authToken\s*=\s*[^\s$"'`]{8}/],
  ['a chat token', /\bxox[abposr]-[A-Za-z0-9-]{20,}/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['a URL with a password', /\b[a-z][a-z+.-]*:\/\/[^\s/:@"'`${}<>]+:[^\s/:@"'`${}<>]{6,}@[a-z0-9]/i],
];

/** `places`: folders of the machine that built it, such as the user's home. */
export function textProblems(text: string, places: readonly string[]): string[] {
  const problems: string[] = [];
  for (const place of places) {
    const at = text.indexOf(place);
    if (at !== -1) problems.push(`line ${lineAt(text, at)} names a folder of this machine: ${place}`);
  }
  for (const [kind, shape] of SECRETS) {
    const at = text.search(shape);
    if (at !== -1) problems.push(`line ${lineAt(text, at)} contains what looks like ${kind}`);
  }
  const map = text.search(/^\/[/*][#@] sourceMappingURL=/m);
  if (map !== -1) problems.push(`line ${lineAt(text, map)} points to a source map`);
  return problems;
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** Compressed files and pictures are not read: their contents are also there uncompressed, or were drawn. */
export const isText = (path: string): boolean => !/\.(?:br|gz|woff2|png|ico|wasm)$/.test(path);

/** Program files. Files for the browser are completely bundled, and import only each other. */
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
    ...(manifest.name === each.name ? [] : [`its name is ${manifest.name}, not ${each.name}`]),
    ...(manifest.version === version
      ? []
      : [`its version is ${manifest.version}, but version.txt has ${version}`]),
    ...(manifest.license === 'MIT' ? [] : ['its package.json does not name the licence MIT']),
  ];
}

/** The code that is bundled into the package, by its own notices. */
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
    .map((path) => `${path} does not name its interpreter (#!)`);
}

// What may be in a published package: only the intended files, no development files, and no unplanned growth. Pure; the
// list of files is that of `npm pack --json`.

/** Packed by npm into every package, and required in each. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE'];

export function contentProblems(rule: ContentsRule, packed: Packed): string[] {
  const paths = new Map(packed.files.map((file) => [file.path, file]));
  const problems: string[] = [];
  for (const path of paths.keys()) {
    if (!ALWAYS.includes(path) && !rule.allowed.some((pattern) => pattern.test(path)))
      problems.push(`${path} is not on the list of allowed files`);
  }
  for (const path of [...ALWAYS, ...rule.required]) if (!paths.has(path)) problems.push(`${path} is missing`);
  for (const [command, target] of Object.entries(packed.bin)) {
    const file = paths.get(target.replace(/^\.\//, ''));
    if (file === undefined) problems.push(`the command ${command} starts ${target}, which is missing`);
    else if ((file.mode & 0o111) !== 0o111) problems.push(`${target} cannot be executed`);
  }
  problems.push(...sizeProblem('packed', packed.packedBytes, rule.maxPackedBytes));
  problems.push(...sizeProblem('unpacked', packed.unpackedBytes, rule.maxUnpackedBytes));
  return problems;
}

function sizeProblem(what: string, bytes: number, limit: number): string[] {
  return bytes > limit ? [`${what} it has ${kilobytes(bytes)}, but the limit is ${kilobytes(limit)}`] : [];
}

export const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_000).toLocaleString('en')} kB`;
