// A project of somebody else that uses the client: installed from the tarball into an empty folder, compiled in the
// two ways in which TypeScript finds packages, and run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun, run } from './run-command.ts';
import { root } from './version-files.ts';

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
export async function clientConsumerProblems(tarball: string): Promise<string[]> {
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
