// Every test file gets its own empty home, and no variable of the machine (tokens, channels, ports) leaks in.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const home = mkdtempSync(join(tmpdir(), 'svc-test-home-'));
for (const name of Object.keys(process.env)) {
  if (/^(SVC_|OTEL_|PROMETHEUS_URL|LOKI_URL|GH_|GITHUB_|XDG_)/.test(name)) delete process.env[name];
}
process.env['HOME'] = home;
process.env['NO_COLOR'] = '1';

afterAll(() => rmSync(home, { recursive: true, force: true }));
