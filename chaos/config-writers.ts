// Many processes change one configuration file at once, while a reader reads it all the time.
// `npm run chaos:config` (8 processes, 200 values each); ends with the count of values present.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, scriptFolder, scriptOptions, writeInto } from '../packages/testkit/src/script.ts';
import { scenario, unless } from './scenario.ts';
import { openVerbs } from './verbs.ts';

const { processes, sets } = scriptOptions({ processes: 8, sets: 200 });
const home = scriptFolder('chaos-config');
const file = join(home, '.svc', 'config.json');
const startVerbs = await openVerbs(home);

writeInto(home, '.svc/config.json', '{\n  "svc": { "projectKey": "demo", "x-unknown": [1,2] }\n}\n');
let reads = 0;
let invalid = 0;
const written = new AbortController();
await scenario({
  title: `${processes} processes, ${sets} values each`,
  async load() {
    await Promise.all(Array.from({ length: processes }, (_, number) => runWriter(number)));
    written.abort();
  },
  async disturb() {
    for (; !written.signal.aborted; await sleep(1)) {
      reads += 1;
      if (!isWhole(readFileSync(file, 'utf8'))) invalid += 1;
    }
  },
  verdict(seconds) {
    const { svc } = JSON.parse(readFileSync(file, 'utf8'));
    const deploys = Object.entries<{ timeoutSec?: number }>(svc.deploy);
    const present = deploys.filter(([name, { timeoutSec = 0 }]) =>
      name.endsWith(`-${timeoutSec - 1}`),
    ).length;
    const isKept = JSON.stringify(svc['x-unknown']) === '[1,2]';
    return {
      figures: [
        `${processes * sets} sets in ${seconds.toFixed(1)} s; ${reads} reads`,
        `set ${processes * sets} present ${present} invalid ${invalid} unknown keys ${isKept ? 'kept' : 'LOST'}`,
      ],
      problems: [
        ...unless(present === processes * sets, 'values are missing'),
        ...unless(invalid === 0, 'a reader has read half a file'),
        ...unless(isKept, 'unknown keys are lost'),
      ],
    };
  },
});

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
  const child = startVerbs();
  for (let index = 0; index < sets; index += 1) {
    const key = `svc.deploy.acme/r${number}-${index}.timeoutSec`;
    child.stdin.write(`${JSON.stringify(['config', 'set', key, String(index + 1)])}\n`);
  }
  child.stdin.end();
  const code = await endOf(child);
  if (code !== 0) throw new Error(`writer ${number} ended with ${code}`);
}
