// Bundles the command line and the daemon into dist/: one start file, the daemon loaded only when it runs.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const here = import.meta.dirname;
const version = readFileSync(join(here, '..', '..', 'version.txt'), 'utf8').trim();
const dist = join(here, 'dist');

rmSync(dist, { recursive: true, force: true });
await build({
  cwd: here,
  input: { svc: 'src/cli/main.ts' },
  platform: 'node',
  // jsonc-parser's main entry is UMD, which no bundler can follow; its module entry is plain.
  resolve: { mainFields: ['module', 'main'] },
  external: ['fastify', 'pino', 'prom-client', 'jq-wasm'],
  transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
  output: { dir: dist, format: 'esm', banner: '#!/usr/bin/env node', sourcemap: false },
});
chmodSync(join(dist, 'svc.js'), 0o755);
console.log(`built dist/svc.js ${version}`);
