// A fake agent: `node orchestrate-agent.ts <stage> <ticket> <branch>`, in a worktree, with the environment from svc.
// Its actions at each launch are in `<stage>/<ticket>.json`; it starts when the file `<stage>/begin` exists. It writes
// its signal file without a lock, as any program might.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import type { Deed } from './orchestrate-cast.ts';

export type AgentScript = { deeds: Deed[]; codehost: string; workMs: number };

const [stage = '', ticket = '', branch = ''] = process.argv.slice(2);
const signalFile = process.env['SVC_SIGNAL_FILE'] ?? '';
const { deeds, codehost, workMs } = JSON.parse(
  readFileSync(join(stage, `${ticket}.json`), 'utf8'),
) as AgentScript;
const launches = join(stage, `${ticket}.launches`);
appendFileSync(launches, `${Date.now()} ${process.pid}\n`);
const launch = readFileSync(launches, 'utf8').trimEnd().split('\n').length;
const deed = deeds[Math.min(launch, deeds.length) - 1] ?? 'work';

function git(...words: string[]): string {
  const person = ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.com'];
  return execFileSync('git', [...person, ...words], { encoding: 'utf8', timeout: WAIT_MS }).trim();
}

function says(status: string, more: object = {}): void {
  const signal = JSON.parse(readFileSync(signalFile, 'utf8')) as object;
  const beside = join(dirname(signalFile), `.${ticket}.${crypto.randomUUID()}`);
  writeFileSync(beside, JSON.stringify({ ...signal, status, updatedAt: new Date().toISOString(), ...more }));
  renameSync(beside, signalFile);
}

function prints(text: string): void {
  const message = { role: 'assistant', content: [{ type: 'text', text }] };
  process.stdout.write(`${JSON.stringify({ type: 'assistant', message })}\n`);
}

function writes(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function test(body: string, begin = 'test'): string {
  const lines = ["import assert from 'node:assert';", "import test from 'node:test';"];
  return [
    ...lines,
    '',
    `${begin}('${ticket}', () => {`,
    ...(body === '' ? [] : [`  ${body}`]),
    '});',
    '',
  ].join('\n');
}

function changes(): void {
  writes(`src/${ticket}.js`, `export const ticket = '${ticket}';\n`);
  const path = `test/${ticket}.test.js`;
  if (deed === 'skip-tests') writes(path, test("assert.equal(1, 2, 'not yet');", 'test.skip'));
  else if (deed === 'break-tests') writes(path, test('assert.equal(1, 2);'));
  else writes(path, test("assert.equal('a'.length, 1);"));
  if (deed === 'empty-tests') writes('test/base.test.js', test(''));
}

async function opens(from: string): Promise<{ number: number; url: string }> {
  git('push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${from}`);
  const body = JSON.stringify({ ticket, branch: from, headSha: git('rev-parse', 'HEAD') });
  const response = await fetch(codehost, { method: 'POST', body, signal: AbortSignal.timeout(WAIT_MS) });
  if (!response.ok) throw new Error(`the code host answered ${response.status}`);
  return (await response.json()) as { number: number; url: string };
}

/** A heartbeat every second, even while the agent waits for git. */
const PULSE = `
const { writeSync } = require('node:fs');
setInterval(() => writeSync(1, '{"type":"system"}\\n'), 1_000);
`;

prints(`launch ${launch}: ${deed}`);
const pulse = new Worker(PULSE, { eval: true });
pulse.unref();
while (!existsSync(join(stage, 'begin'))) await sleep(20);
says('implementing', { phase: 'implementing' });
await sleep(workMs / 2);
// Its child keeps running.
if (deed === 'crash' || deed === 'hang') spawn('sleep', ['900'], { stdio: 'ignore' }).unref();
if (deed === 'crash') process.exit(1);
if (deed === 'hang') {
  await pulse.terminate();
  await sleep(900_000);
}
changes();
git('add', '--all');
if (git('status', '--porcelain') !== '') git('commit', '--quiet', '-m', `${ticket}: change`);
await sleep(workMs / 2);
says('shipping', { phase: 'shipping' });
const pr = await opens(deed === 'open-again' ? `${branch}-again` : branch);
if (deed === 'open-and-crash') process.exit(1);
says('pr-created', { phase: 'shipping', pr });
const usage = { input_tokens: 100, output_tokens: 20 };
process.stdout.write(
  `${JSON.stringify({ type: 'result', subtype: 'success', total_cost_usd: 0.01, usage })}\n`,
);
