// Bundles the relay into dist/svc-relay.js, with the licences of what is bundled. What it depends on stays outside,
// installed beside it.
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { bundledIn, NOTICES, noticesText } from '../../release/notices.ts';

const here = import.meta.dirname;
const version = readFileSync(join(here, '..', '..', 'version.txt'), 'utf8').trim();
const dist = join(here, 'dist');
// Built beside and then put in place, so that a failed build leaves the one before.
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
