// Bundles a program that a script starts many times, or measures, into one file: loading its many source files would
// take longer than it runs.
import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';
import { scriptFolder } from '../script.ts';

const repository = join(import.meta.dirname, '../../../..');

/** `bundleProcess('chaos/outbox-child.ts')`, from the repository's root: the file, removed with the script. */
export async function bundleProcess(program: string): Promise<string> {
  const folder = scriptFolder('bundle');
  // For modules that are not bundled.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await build({
    cwd: repository,
    input: program,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    external: ['fastify', 'pino', 'prom-client', 'jq-wasm'],
    output: { dir: folder, format: 'esm', codeSplitting: false, sourcemap: false },
    logLevel: 'warn',
  });
  return join(folder, basename(program).replace(/\.ts$/, '.js'));
}
