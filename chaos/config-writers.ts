// Many processes change one configuration file at once, while a reader reads it all the time.
// `npm run chaos:config` (8 processes, 200 values each); ends with the count of values present.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import {
  endOf,
  endWithScript,
  failUnless,
  scriptFolder,
  scriptOptions,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';

const { processes, sets } = scriptOptions({ processes: 8, sets: 200 });
const writer = await bundleProcess('chaos/verbs-process.ts');
const home = scriptFolder('chaos-config');
const file = join(home, '.svc', 'config.json');

writeInto(home, '.svc/config.json', '{\n  "svc": { "projectKey": "demo", "x-unknown": [1,2] }\n}\n');
const started = performance.now();
const writers = Array.from({ length: processes }, (_, number) => runWriter(number));
const done = Promise.all(writers).then(() => true);
let reads = 0;
let invalid = 0;
while (!(await Promise.race([done, sleep(1, false)]))) {
  reads += 1;
  if (!isWhole(readFileSync(file, 'utf8'))) invalid += 1;
}
const { svc } = JSON.parse(readFileSync(file, 'utf8'));
const present = Object.entries<{ timeoutSec?: number }>(svc.deploy).filter(([name, { timeoutSec }]) =>
  name.endsWith(`-${(timeoutSec ?? 0) - 1}`),
).length;
const kept = JSON.stringify(svc['x-unknown']) === '[1,2]';
console.log(`${processes} processes, ${processes * sets} sets in ${secondsSince(started)} s; ${reads} reads`);
console.log(
  `set ${processes * sets} present ${present} invalid ${invalid} unknown keys ${kept ? 'kept' : 'LOST'}`,
);
failUnless(present === processes * sets && invalid === 0 && kept);

function isWhole(text: string): boolean {
  try {
    return JSON.parse(text).svc.projectKey === 'demo';
  } catch (error) {
    console.error(`a reader saw ${text.length} bytes that are not JSON: ${String(error)}`);
    return false;
  }
}

/** Runs `svc config set` many times. */
async function runWriter(number: number): Promise<void> {
  const child = endWithScript(
    spawn(process.execPath, [writer], {
      cwd: home,
      env: { HOME: home, PATH: process.env['PATH'] },
      stdio: ['pipe', 'ignore', 'inherit'],
    }),
  );
  for (let index = 0; index < sets; index += 1) {
    const key = `svc.deploy.acme/r${number}-${index}.timeoutSec`;
    child.stdin.write(`${JSON.stringify(['config', 'set', key, String(index + 1)])}\n`);
  }
  child.stdin.end();
  const code = await endOf(child);
  if (code !== 0) throw new Error(`writer ${number} ended with ${code}`);
}
