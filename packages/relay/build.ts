// Bundles the relay into dist/svc-relay.js. What it depends on stays outside, installed beside it.
import { chmodSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const here = import.meta.dirname;
const version = readFileSync(join(here, '..', '..', 'version.txt'), 'utf8').trim();
const dist = join(here, 'dist');
// Built beside and then put in place, so that a failed build leaves the one before.
const fresh = join(here, `dist.${process.pid}.tmp`);

await build({
  cwd: here,
  input: { 'svc-relay': 'src/cli/start.ts' },
  platform: 'node',
  external: ['commander', 'pino', 'prom-client', /^@nats-io\//],
  transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
  output: {
    dir: fresh,
    format: 'esm',
    banner: '#!/usr/bin/env -S node --max-semi-space-size=16',
    sourcemap: false,
  },
});
chmodSync(join(fresh, 'svc-relay.js'), 0o755);
rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
console.log(`built dist/svc-relay.js ${version}`);
