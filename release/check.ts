// Everything that must hold before anything is published, for the packages as they are packed. Prints as it goes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { bundledOf, kilobytes, tarballProblems } from './check-tarball.ts';
import { type Licensed, type Lock, licenceProblems, shippedOf } from './licences.ts';
import { packPackage, type Tarball } from './pack.ts';
import { packages } from './packages.ts';
import { mustRun, run } from './run-command.ts';
import { currentVersion, readVersionFiles, root, versionProblems } from './versions.ts';

// What publint says of a package: whether the fields of its package.json lead to files that are there, in the
// formats that they promise.

/** Suggestions count too: each is either followed or turned into a reason not to. */
async function lintProblems({ folder, manifest }: Tarball): Promise<string[]> {
  // The folder is what was in the tarball: there is nothing to pack again.
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}

// What the registry says: known weaknesses of what ships, and who has the names that we publish under. A registry
// that does not answer makes these unknown; it never makes them fine.

const TIMEOUT_MS = 60_000;

async function auditOf(shipped: readonly Licensed[]): Promise<Audit> {
  // With what is only for development: of that, what is bundled ships.
  const { stdout } = await run('npm', ['audit', '--json', '--fetch-retries=0'], {
    cwd: root,
    timeoutMs: TIMEOUT_MS,
  });
  return readAudit(stdout, shipped);
}

/** A line to read before the first `npm publish`: a name on the registry belongs to whoever had it first. */
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
  if (!printed.includes('E404')) return `name ${name}: unknown, the registry did not say`;
  return `name ${name}: not on the registry${name.startsWith('@') ? '; its scope must be yours' : ''}`;
}

// A project of somebody else that uses the client: installed from the tarball into an empty folder, compiled in the
// two ways in which TypeScript finds packages, and run.

const WAYS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

/** Two lines must not compile: with `any` in the place of the types, nothing would be expected of them. */
const SOURCE = `import { ApiFailure, createClient } from '@svc/client';
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

/** One line for each way that does not work. */
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
        // The types of the package itself are read, not only what is used of them.
        skipLibCheck: false,
        noEmit: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
      const { code, stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.'], {
        cwd: folder,
      });
      if (code !== 0) problems.push(`with ${way.moduleResolution} it does not compile: ${stdout.trim()}`);
    }
    const script = "import { createClient } from '@svc/client'; createClient('http://127.0.0.1:7400');";
    const ran = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder });
    if (ran.code !== 0) problems.push(`it cannot be imported: ${ran.stderr.trim()}`);
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs and checks what is built; resolves with the tarballs and every problem, each in a line. */
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
      if (each.name === '@svc/client') found.push(...(await clientConsumerProblems(tarball.path)));
      problems.push(...found.map((problem) => `${each.name}: ${problem}`));
    } catch (error) {
      // The others are checked all the same.
      problems.push(`${each.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`licences: ${new Set(shipped.map(({ name }) => name)).size} packages ship with ours`);
  const audit = await auditOf(shipped);
  console.log(auditLine(audit));
  if (audit.kind === 'found') problems.push(auditLine(audit));
  for (const { name } of packages) console.log(await nameLine(name));
  return { tarballs, problems };
}

function describeTarball({ name, version, path, packed, manifest }: Tarball): string {
  const { files, packedBytes, unpackedBytes } = packed;
  const beside = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).length;
  return `${name} ${version}: ${relative(root, path)}, ${kilobytes(packedBytes)} packed, ${kilobytes(unpackedBytes)} unpacked, ${files.length} files, ${beside} dependencies`;
}

/** A lock file that names a host installs from there, whatever registry a person has chosen. */
function lockProblems(lock: Lock): string[] {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''));
  return named.map(([path]) => `package-lock.json names a host for ${path}`);
}

// Known weaknesses in what ships, as the registry tells them. A registry that does not answer is said to be silent:
// "unknown" is never taken for "none".

export type Audit =
  | { kind: 'clear'; lesser: string[] }
  | { kind: 'found'; serious: string[]; lesser: string[] }
  | { kind: 'unknown'; why: string };

type Answer = {
  message?: string;
  vulnerabilities?: Record<string, { name: string; severity: string; range?: string }>;
};

const SERIOUS = new Set(['high', 'critical']);

/** `printed`: what `npm audit --json` wrote. Of what it names, only what ships counts. */
export function readAudit(printed: string, shipped: readonly Licensed[]): Audit {
  let answer: Answer;
  try {
    answer = JSON.parse(printed) as Answer;
  } catch {
    return { kind: 'unknown', why: 'npm audit gave no JSON' };
  }
  if (answer.vulnerabilities === undefined)
    // The address of a registry is nobody's business.
    return {
      kind: 'unknown',
      why: (answer.message ?? 'no answer').replaceAll(/\S+:\/\/\S+/g, 'the registry'),
    };
  const names = new Set(shipped.map(({ name }) => name));
  const found = Object.values(answer.vulnerabilities).filter(({ name }) => names.has(name));
  const words = ({ name, severity, range }: (typeof found)[number]): string =>
    `${name} ${range ?? ''} (${severity})`.replace('  ', ' ');
  const serious = found.filter(({ severity }) => SERIOUS.has(severity)).map(words);
  const lesser = found.filter(({ severity }) => !SERIOUS.has(severity)).map(words);
  return serious.length > 0 ? { kind: 'found', serious, lesser } : { kind: 'clear', lesser };
}

/** The one line that the release prints. */
export function auditLine(audit: Audit): string {
  if (audit.kind === 'unknown') return `audit: unknown (${audit.why})`;
  const lesser = audit.lesser.length > 0 ? `; lesser: ${audit.lesser.join(', ')}` : '';
  return audit.kind === 'clear'
    ? `audit: nothing high or critical in what ships${lesser}`
    : `audit: ${audit.serious.join(', ')}${lesser}`;
}
