// Many processes change one configuration file at once, while a reader looks at it all the time.
// `npm run chaos:config` (8 processes, 200 values each); ends with the count of values present.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { bundleProcess } from './bundle-process.ts';

const { processes, sets } = scriptOptions({ processes: 8, sets: 200 });
const writer = await bundleProcess('config-writer.ts');
const home = mkdtempSync(join(tmpdir(), 'svc-chaos-config-'));
const file = join(home, '.svc', 'config.json');

try {
  mkdirSync(join(home, '.svc'));
  writeFileSync(file, '{\n  "svc": { "projectKey": "demo", "x-unknown": [1,2] }\n}\n');
  const started = performance.now();
  const writers = Array.from({ length: processes }, (_, number) => runWriter(number));
  const done = Promise.all(writers).then(() => true);
  let looks = 0;
  let invalid = 0;
  while (!(await Promise.race([done, sleep(1, false)]))) {
    looks += 1;
    if (!isWhole(readFileSync(file, 'utf8'))) invalid += 1;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const { svc } = JSON.parse(readFileSync(file, 'utf8'));
  const present = Object.entries<{ timeoutSec?: number }>(svc.deploy).filter(([name, { timeoutSec }]) =>
    name.endsWith(`-${(timeoutSec ?? 0) - 1}`),
  ).length;
  const kept = JSON.stringify(svc['x-unknown']) === '[1,2]';
  console.log(`${processes} processes, ${processes * sets} sets in ${seconds} s; ${looks} looks by a reader`);
  console.log(
    `set ${processes * sets} present ${present} invalid ${invalid} unknown keys ${kept ? 'kept' : 'LOST'}`,
  );
  if (present !== processes * sets || invalid > 0 || !kept) process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

function isWhole(text: string): boolean {
  try {
    return JSON.parse(text).svc.projectKey === 'demo';
  } catch (error) {
    console.error(`a reader saw ${text.length} bytes that are not JSON: ${String(error)}`);
    return false;
  }
}

function runWriter(number: number): Promise<void> {
  const child = spawn(process.execPath, [writer, String(number), String(sets)], {
    cwd: home,
    env: { HOME: home, PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`writer ${number} ended with ${code}`)),
    );
  });
}
