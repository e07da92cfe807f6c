import { appendFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentStream } from './agent-output.ts';
import { watchOutput } from './io/output.ts';

const result = (session: string, usd: number): string =>
  `${JSON.stringify({ type: 'result', subtype: 'success', session_id: session, total_cost_usd: usd })}\n`;
const message = (text: string): string =>
  `${JSON.stringify({ type: 'assistant', session_id: 's', message: { content: [{ type: 'text', text }] } })}\n`;

function watch(path: string, everyMs = 3_600_000) {
  const changes: AgentStream[] = [];
  const problems: unknown[] = [];
  const output = watchOutput({
    path,
    everyMs,
    onChange: (stream) => changes.push(stream),
    onProblem: (error) => problems.push(error),
  });
  onTestFinished(() => output.stop());
  return { output, changes, problems };
}

test('new lines, only complete ones, in any chunks', async () => {
  const path = join(temporaryFolder(), 'stream.jsonl');
  const { output, changes, problems } = watch(path);
  await output.read();
  expect([output.stream().lines, output.lastOutputAt()]).toEqual([0, null]);
  const bytes = Buffer.from(message('grüße 😀'));
  appendFileSync(path, bytes.subarray(0, 90));
  await output.read();
  expect(output.stream().lines).toBe(0);
  for (const byte of bytes.subarray(90)) {
    appendFileSync(path, Buffer.from([byte]));
    await output.read();
  }
  expect(output.stream()).toMatchObject({ lines: 1, garbage: 0, lastActivity: 'grüße 😀' });
  expect(output.lastOutputAt()).toBe(statSync(path).mtime.toISOString());
  expect([changes.length, problems]).toEqual([1, []]);
  await output.read();
  expect(changes).toHaveLength(1);
});

test('on its own, after a while', async () => {
  const path = join(temporaryFolder(), 'stream.jsonl');
  const { output } = watch(path, 20);
  writeFileSync(path, result('s', 0.5));
  expect(await until(() => output.stream().cost.usd)).toBe(0.5);
});

test('a long line is skipped; the ones beside it count', async () => {
  const path = join(temporaryFolder(), 'stream.jsonl');
  const { output } = watch(path);
  writeFileSync(path, `${message('before')}${message('x'.repeat(3_000_000))}${result('s', 1)}`);
  await output.read();
  expect(output.stream()).toMatchObject({ lines: 2, garbage: 0, cost: { usd: 1 } });
  expect(output.tooLong()).toBe(1);
  // Also in chunks.
  appendFileSync(path, 'y'.repeat(700_000));
  await output.read();
  appendFileSync(path, 'y'.repeat(700_000));
  await output.read();
  appendFileSync(path, `\n${message('after')}`);
  await output.read();
  expect(output.stream()).toMatchObject({ lines: 3, garbage: 0, lastActivity: 'after' });
  expect(output.tooLong()).toBe(2);
});

test('a file that was emptied or replaced is read from its start; nothing counts twice', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'stream.jsonl');
  writeFileSync(path, `${result('s1', 1)}${message('a long line that is cut away')}`);
  const { output } = watch(path);
  await output.read();
  truncateSync(path, 0);
  await output.read();
  appendFileSync(path, result('s2', 2));
  await output.read();
  expect(output.stream().cost.usd).toBe(3);
  writeFileSync(join(folder, 'other'), `${result('s1', 1)}${result('s2', 2)}${result('s3', 4)}`);
  renameSync(join(folder, 'other'), path);
  await output.read();
  expect(output.stream().cost.usd).toBe(7);
});

test('a restart folds the file again with the same result', async () => {
  const path = join(temporaryFolder(), 'stream.jsonl');
  const first = watch(path);
  for (let session = 0; session < 200; session += 1) {
    appendFileSync(path, `${message(`at work on ${session}`)}no json\n${result(`s${session}`, 0.5)}`);
    if (session % 20 === 0) await first.output.read();
  }
  await first.output.read();
  const second = watch(path);
  await second.output.read();
  expect(second.output.stream()).toEqual(first.output.stream());
  expect(second.output.stream()).toMatchObject({ lines: 600, garbage: 200, cost: { usd: 100 } });
});
