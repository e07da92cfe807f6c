// A script that a chaos script starts again and again, as one file: the many files of its source would take longer
// to load than it lives.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');

/** `bundleProcess('outbox-child.ts')`: the path of the file, which goes with this process. */
export async function bundleProcess(script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // For what is not bundled.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await build({
    cwd: import.meta.dirname,
    input: script,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    external: ['fastify', 'pino', 'prom-client', 'jq-wasm'],
    output: { dir: folder, format: 'esm', codeSplitting: false, sourcemap: false },
  });
  return join(folder, basename(script).replace(/\.ts$/, '.js'));
}
