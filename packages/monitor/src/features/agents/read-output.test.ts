import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { readOutput } from './io/output.ts';

const message = (text: string): string =>
  `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } })}\n`;

function run() {
  const runsDir = temporaryFolder();
  const folder = join(runsDir, 'run-1', 'workers', 'output');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'ENG-1-stream.jsonl');
  const read = (after?: number, limit = 100, ticket = 'ENG-1') =>
    readOutput({ runsDir, orchestrator: 'run-1', ticket, after, limit });
  return { runsDir, folder, file, read };
}

test('there is no output yet', async () => {
  const { read, file } = run();
  expect(await read()).toMatchObject({ exists: false, file, size: 0, lines: [] });
  expect(await read(500)).toMatchObject({ exists: false, restarted: false });
});

test('the newest lines, and then those that follow, without a gap', async () => {
  const { read, file } = run();
  for (let number = 1; number <= 10; number += 1) appendFileSync(file, message(`line ${number}`));
  const first = await read(undefined, 3);
  expect(first.lines.map(({ text }) => text)).toEqual(['line 8', 'line 9', 'line 10']);
  expect(first).toMatchObject({ exists: true, restarted: false, to: first.size });
  expect(await read(first.to)).toMatchObject({ from: first.to, to: first.to, lines: [] });
  appendFileSync(file, message('line 11') + message('line 12'));
  const next = await read(first.to, 1);
  expect(next.lines.map(({ text }) => text)).toEqual(['line 11']);
  expect((await read(next.to)).lines.map(({ text }) => text)).toEqual(['line 12']);
  expect((await read(0)).lines).toHaveLength(12);
});

test('an incomplete line is returned when it is complete', async () => {
  const { read, file } = run();
  writeFileSync(file, `${message('whole')}{"type":"assis`);
  const first = await read();
  expect(first.lines).toHaveLength(1);
  expect(first.to).toBeLessThan(first.size);
  appendFileSync(file, 'tant","message":{"content":[{"type":"text","text":"then"}]}}\n');
  expect((await read(first.to)).lines).toMatchObject([{ kind: 'text', text: 'then', offset: first.to }]);
});

test('only an incomplete line', async () => {
  const { read, file } = run();
  writeFileSync(file, '{"type":');
  expect(await read()).toMatchObject({ exists: true, to: 0, lines: [] });
});

test('a file that became shorter is read from its start', async () => {
  const { read, file } = run();
  writeFileSync(file, message('a long line of before'));
  const { to } = await read();
  writeFileSync(file, message('new'));
  expect(await read(to)).toMatchObject({ restarted: true, from: 0, lines: [{ text: 'new' }] });
});

test('a line of megabytes does not stop it, and is bounded', async () => {
  const { read, file } = run();
  writeFileSync(file, message('before') + message('x'.repeat(3_000_000)) + message('after'));
  const all: string[] = [];
  let at = 0;
  for (let count = 0; count < 10; count += 1) {
    const part = await read(at);
    all.push(...part.lines.map(({ text }) => text));
    if (part.to === at) break;
    at = part.to;
  }
  expect(all[0]).toBe('before');
  expect(all.at(-1)).toBe('after');
  expect(Math.max(...all.map((text) => text.length))).toBeLessThanOrEqual(4_096);
  expect((await read()).lines.at(-1)?.text).toBe('after');
});

test('the end of the standard error, even while there is no output', async () => {
  const { read, file, folder } = run();
  const errors = join(folder, 'ENG-1-stderr.log');
  writeFileSync(errors, `${'x'.repeat(100_000)}\nstarting\nexec: claude: not found\n`);
  expect(await read()).toMatchObject({ exists: false, errors: 'starting\nexec: claude: not found' });
  writeFileSync(file, message('hello'));
  expect(await read(0)).toMatchObject({ exists: true, errors: 'starting\nexec: claude: not found' });
  rmSync(errors);
  symlinkSync(file, errors);
  expect(await read()).toMatchObject({ exists: true, errors: '' });
});

test('nothing outside the run is read', async () => {
  const { read, file, folder, runsDir } = run();
  const secret = join(runsDir, 'secret.jsonl');
  writeFileSync(secret, message('nobody reads this'));
  symlinkSync(secret, file);
  await expect(read()).rejects.toMatchObject({ code: 'file-unusable' });
  rmSync(folder, { recursive: true });
  mkdirSync(join(runsDir, 'elsewhere'));
  writeFileSync(join(runsDir, 'elsewhere', 'ENG-1-stream.jsonl'), message('nobody reads this'));
  symlinkSync(join(runsDir, 'elsewhere'), folder);
  await expect(read()).rejects.toMatchObject({ code: 'file-unusable' });
  for (const ticket of ['../secret', '..', 'a/b', ''])
    await expect(read(undefined, 1, ticket)).rejects.toMatchObject({ code: 'usage' });
});

test('a folder in its place is not output', async () => {
  const { read, file } = run();
  mkdirSync(file);
  await expect(read()).rejects.toMatchObject({ code: 'file-unusable' });
});
