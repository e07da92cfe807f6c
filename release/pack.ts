// Creates the tarball of a package: a folder with only the published files, then `npm pack` of that folder. The tarball
// is unpacked again, so that every check reads what users get.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PublishedPackage } from './packages.ts';
import { mustRun } from './run-command.ts';
import { root } from './versions.ts';

export const out = join(root, 'release', 'out');

export type PackedFile = { path: string; size: number; mode: number };

export type Packed = {
  files: readonly PackedFile[];
  packedBytes: number;
  unpackedBytes: number;
  /** Name of the command and the file it starts. */
  bin: Readonly<Record<string, string>>;
};

/** Its files are unpacked in `folder`. */
export type Tarball = Awaited<ReturnType<typeof packPackage>>;

type PackReport = {
  filename: string;
  version: string;
  size: number;
  unpackedSize: number;
  files: PackedFile[];
};

/** `node` runs the build as by hand. */
export async function buildPackage(each: PublishedPackage): Promise<void> {
  if (!existsSync(join(root, each.build))) throw new Error(`${each.name} has no ${each.build}`);
  await mustRun(process.execPath, [each.build], { cwd: root });
}

/** Packs the build; removes an earlier tarball of this package from `into`. */
export async function packPackage(each: PublishedPackage, into: string = out) {
  const from = join(root, each.from);
  for (const part of each.copy)
    if (!existsSync(join(from, part))) throw new Error(`${each.name} is not built. Run: node ${each.build}`);
  const stage = join(into, 'stage', each.name);
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  for (const part of each.copy) cpSync(join(from, part), join(stage, part), { recursive: true });
  const source = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Manifest;
  const manifestOut = { ...publishedManifest(source), ...repositoryOf(each.folder) };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifestOut, null, 2)}\n`);
  cpSync(join(root, each.folder, 'README.md'), join(stage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));

  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', into];
  const { stdout } = await mustRun('npm', words, { cwd: stage });
  const report = firstReport(JSON.parse(stdout));
  const path = join(into, basename(report.filename));
  const folder = await takeApart(path, join(into, 'unpacked', each.name));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { size, unpackedSize, files, version } = report;
  const packed: Packed = { files, packedBytes: size, unpackedBytes: unpackedSize, bin: manifest.bin ?? {} };
  return { name: each.name, version, path, folder, manifest, packed };
}

/** A list with npm 11, and by name with npm 12. */
function firstReport(answer: unknown): PackReport {
  const [report] = Object.values(answer as Record<string, PackReport>);
  if (report === undefined) throw new Error('npm pack reported nothing');
  return report;
}

async function takeApart(tarball: string, folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await mustRun('tar', ['-xzf', tarball, '-C', folder], { cwd: folder });
  return join(folder, 'package');
}

// The published package.json: only what users need, without the tests, tools and scripts of the repository.

export type Manifest = {
  name: string;
  version: string;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  [field: string]: unknown;
};

const PUBLISHED = [
  ...'name version description keywords license author homepage repository bugs type engines'.split(' '),
  ...'sideEffects exports main types bin man files dependencies optionalDependencies peerDependencies'.split(
    ' ',
  ),
];

export function publishedManifest(manifest: Manifest): Manifest {
  const fields = PUBLISHED.filter((field) => manifest[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field, manifest[field]])) as Manifest;
}

/** The repository whose workflow builds it, which npm compares with the provenance. Elsewhere it is not known. */
export function repositoryOf(directory: string, environment: NodeJS.ProcessEnv = process.env): object {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = environment;
  if (server === undefined || repository === undefined) return {};
  return { repository: { type: 'git', url: `git+${server}/${repository}.git`, directory } };
}

/** Names of what npm installs with the package. */
export const declaredBy = (manifest: Manifest): Set<string> =>
  new Set(
    Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }),
  );
