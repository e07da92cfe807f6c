// All checks before anything is published, on the packed packages. Prints its progress.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { bundledOf, kilobytes, tarballProblems } from './check-tarball.ts';
import { type Licensed, type Lock, licenceProblems, shippedOf } from './licences.ts';
import { out, packPackage, type Tarball } from './pack.ts';
import { billName, packages } from './packages.ts';
import { mustRun, run } from './run-command.ts';
import { currentVersion, readVersionFiles, root, versionProblems } from './versions.ts';

// The result of publint for a package: whether the fields of its package.json point to existing files in the right
// formats.

/** Suggestions count too: each is either followed or rejected for a reason. */
async function lintProblems({ folder, manifest }: Tarball): Promise<string[]> {
  // The folder has the contents of the tarball: no need to pack again.
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}

// What the registry reports: known vulnerabilities in shipped packages, and the owners of our package names. Without an
// answer these are unknown, never fine.

const TIMEOUT_MS = 60_000;

async function auditOf(shipped: readonly Licensed[]) {
  // Including development dependencies: those that are bundled ship.
  const { stdout } = await run('npm', ['audit', '--json', '--fetch-retries=0'], {
    cwd: root,
    timeoutMs: TIMEOUT_MS,
  });
  return readAudit(stdout, shipped);
}

/** A line to read before the first `npm publish`: a name on the registry belongs to its first owner. */
async function nameLine(name: string): Promise<string> {
  const words = ['view', name, 'version', 'description', '--json', '--fetch-retries=0'];
  const { code, stdout } = await run('npm', words, { cwd: root, timeoutMs: TIMEOUT_MS });
  return readName(name, code, stdout);
}

/** `printed`: what `npm view … --json` wrote. */
export function readName(name: string, code: number, printed: string): string {
  if (code === 0) {
    const { version, description = '' } = JSON.parse(printed) as { version: string; description?: string };
    return `name ${name}: on the registry, ${version}, "${description}". Is it yours?`;
  }
  if (!printed.includes('E404')) return `name ${name}: unknown, the registry did not answer`;
  return `name ${name}: not on the registry`;
}

// The software bill of materials: every package of the lock file, because what is bundled is a development dependency.

/** `purl`: the name on the registry and the version; `name` is that of the folder, which may be an alias. */
type Bill = { components: { purl: string }[] };

async function writeBill(version: string): Promise<Bill> {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const { stdout } = await mustRun('npm', words, { cwd: root });
  writeFileSync(join(out, billName(version)), stdout);
  const bill = JSON.parse(stdout) as Bill;
  console.log(`bill of materials: ${bill.components.length} packages, ${billName(version)}`);
  return bill;
}

/** One line for each package that ships and is not in the bill. */
export function billProblems({ components }: Bill, shipped: readonly Licensed[]): string[] {
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)));
  const missing = shipped
    .filter(({ name, version }) => !listed.has(`pkg:npm/${name}@${version}`))
    .map(({ name, version }) => `${name} ${version}`);
  return [...new Set(missing)].map((each) => `${each} ships, but is not in the bill of materials`);
}

// Another project that uses the client: installed from the tarball into an empty folder, compiled with both of
// TypeScript's module resolutions, and run.

const WAYS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

/** Two lines must not compile: with `any` instead of the types they would. */
const SOURCE = `import { ApiFailure, createClient } from 'svc-monitor-client';
// @ts-expect-error an address is a text
createClient(42);
const client = createClient('http://127.0.0.1:7400');
export async function countWorkers(): Promise<number | string> {
  try {
    // @ts-expect-error there is no such route
    await client.get('/api/nothing');
    const { workers } = await client.get('/api/board');
    return workers.length;
  } catch (error) {
    return error instanceof ApiFailure ? error.code : 'unknown';
  }
}
`;

/** One line for each resolution that fails. */
async function clientConsumerProblems(tarball: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-consumer-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    writeFileSync(join(folder, 'index.ts'), SOURCE);
    const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await mustRun('npm', ['install', ...quiet, tarball], { cwd: folder });
    const problems: string[] = [];
    for (const way of WAYS) {
      const compilerOptions = {
        ...way,
        target: 'es2024',
        lib: ['es2024', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        // Checks all types of the package, not only the used ones.
        skipLibCheck: false,
        noEmit: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
      const { code, stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.'], {
        cwd: folder,
      });
      if (code !== 0) problems.push(`with ${way.moduleResolution} it does not compile: ${stdout.trim()}`);
    }
    const script =
      "import { createClient } from 'svc-monitor-client'; createClient('http://127.0.0.1:7400');";
    const ran = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder });
    if (ran.code !== 0) problems.push(`it cannot be imported: ${ran.stderr.trim()}`);
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs and checks the build; resolves with the tarballs and all problems, one per line. */
export async function checkRelease(): Promise<{ tarballs: Tarball[]; problems: string[] }> {
  const version = currentVersion();
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const problems = [...versionProblems(readVersionFiles(), version), ...lockProblems(lock)];
  const tarballs: Tarball[] = [];
  const shipped: Licensed[] = shippedOf(lock);
  problems.push(...licenceProblems(shipped));
  for (const each of packages) {
    try {
      const tarball = await packPackage(each);
      console.log(describeTarball(tarball));
      tarballs.push(tarball);
      shipped.push(...bundledOf(tarball));
      const found = [...tarballProblems(each, tarball, version, lock), ...(await lintProblems(tarball))];
      if (each.name === 'svc-monitor-client') found.push(...(await clientConsumerProblems(tarball.path)));
      problems.push(...found.map((problem) => `${each.name}: ${problem}`));
    } catch (error) {
      // The others are still checked.
      problems.push(`${each.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`licences: ${new Set(shipped.map(({ name }) => name)).size} packages ship with ours`);
  problems.push(...billProblems(await writeBill(version), shipped));
  const audit = await auditOf(shipped);
  console.log(audit.line);
  if (audit.isBad) problems.push(audit.line);
  for (const { name } of packages) console.log(await nameLine(name));
  return { tarballs, problems };
}

function describeTarball({ name, version, path, packed, manifest }: Tarball): string {
  const { files, packedBytes, unpackedBytes } = packed;
  const beside = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).length;
  return `${name} ${version}: ${relative(root, path)}, ${kilobytes(packedBytes)} packed, ${kilobytes(unpackedBytes)} unpacked, ${files.length} files, ${beside} dependencies`;
}

/** A lock file with a host installs from there, whatever registry the user has configured. */
function lockProblems(lock: Lock): string[] {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''));
  return named.map(([path]) => `package-lock.json names a host for ${path}`);
}

const SERIOUS = new Set(['high', 'critical']);

type Answer = {
  message?: string;
  vulnerabilities?: Record<string, { name: string; severity: string; range?: string }>;
};

/** What `npm audit --json` has printed, in one line. Only shipped packages count; no answer is never fine. */
export function readAudit(printed: string, shipped: readonly Licensed[]): { line: string; isBad: boolean } {
  const unknown = (why: string) => ({ line: `audit: unknown (${why})`, isBad: false });
  let answer: Answer;
  try {
    answer = JSON.parse(printed) as Answer;
  } catch {
    return unknown('npm audit printed no JSON');
  }
  // The URL of a registry stays private.
  if (answer.vulnerabilities === undefined)
    return unknown((answer.message ?? 'no answer').replaceAll(/\S+:\/\/\S+/g, 'the registry'));
  const names = new Set(shipped.map(({ name }) => name));
  const found = Object.values(answer.vulnerabilities).filter(({ name }) => names.has(name));
  const listed = (isSerious: boolean): string =>
    found
      .filter(({ severity }) => SERIOUS.has(severity) === isSerious)
      .map(({ name, severity, range = '' }) => `${name} ${range} (${severity})`.replace('  ', ' '))
      .join(', ');
  const serious = listed(true);
  const lesser = listed(false);
  const line = `audit: ${serious || 'nothing high or critical in shipped packages'}`;
  return { line: lesser === '' ? line : `${line}; lesser: ${lesser}`, isBad: serious !== '' };
}
