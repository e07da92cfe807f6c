// The log's promise, tested with a process that is killed without warning.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { draft, openTestLog, readAllLines } from './testing/sample-log.ts';

const script = join(import.meta.dirname, 'testing', 'append-until-killed.ts');

/** Runs the writer until it has acknowledged this many lines, then kills it. Returns what it acknowledged. */
async function appendAndKill(
  folder: string,
  prefix: string,
  lines: number,
): Promise<[seq: number, delivery: string][]> {
  const child = spawn(process.execPath, [script, folder, prefix, '40'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split('\n').length > lines) child.kill('SIGKILL');
  });
  await once(child, 'close');
  expect(errors).toBe('');
  const whole = output.split('\n').slice(0, -1);
  return whole.map((line) => line.split(' ')).map(([seq, id]) => [Number(seq), id ?? '']);
}

test('killed repeatedly during a burst: nothing acknowledged is lost, duplicated or torn', async () => {
  const folder = temporaryFolder();
  const acknowledged = new Map<string, number>();
  for (const [round, lines] of [1, 50, 700, 4_200, 300].entries()) {
    for (const [seq, delivery] of await appendAndKill(folder, `round${round}`, lines))
      acknowledged.set(delivery, seq);
  }
  const log = openTestLog(folder);
  await log.ready;
  const written = readAllLines(join(folder, 'events'));
  expect(written.map(({ seq }) => seq)).toEqual(written.map((_, index) => index + 1));
  const deliveries = new Map(written.map(({ deliveryId = '', seq }) => [deliveryId, seq]));
  expect(deliveries.size).toBe(written.length);
  for (const [delivery, seq] of acknowledged) expect(deliveries.get(delivery)).toBe(seq);
  expect(log.stats().indexedTo).toBe(written.length);
  for (const [delivery, seq] of [...acknowledged].filter((_, index) => index % 50 === 0)) {
    expect(await log.appendOnce(draft({ deliveryId: delivery }))).toMatchObject({ duplicate: true, seq });
  }
  await log.close();
});
