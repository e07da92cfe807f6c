// Bundles the relay into dist/svc-relay.js, with the licences of what is bundled. Its dependencies are not bundled; they
// are installed next to it.
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { bundledIn, NOTICES, noticesText } from '../../release/notices.ts';

const here = import.meta.dirname;
const version = readFileSync(join(here, '..', '..', 'version.txt'), 'utf8').trim();
const dist = join(here, 'dist');
// Built in a temporary folder and then moved, so a failed build keeps the previous one.
const fresh = join(here, `dist.${process.pid}.tmp`);

const { output } = await build({
  cwd: here,
  input: { 'svc-relay': 'src/cli/start.ts' },
  platform: 'node',
  external: ['commander', 'eventsource-parser', 'pino', 'prom-client', /^@nats-io\//],
  transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
  output: {
    dir: fresh,
    format: 'esm',
    banner: '#!/usr/bin/env -S node --max-semi-space-size=16',
    sourcemap: false,
  },
});
chmodSync(join(fresh, 'svc-relay.js'), 0o755);
const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
writeFileSync(join(fresh, NOTICES), noticesText(bundledIn(modules)));
rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
console.log(`built dist/svc-relay.js ${version}`);
