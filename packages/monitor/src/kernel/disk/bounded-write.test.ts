// A disk that does not answer: whichever step it is, the write ends, and the file is the old or the new one.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskCalls, Unreadable } from '@svc/lib/disk-calls';
import { temporaryFolder } from '@svc/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { createFindingsQueue } from '../../features/findings/io/queue.ts';
import { writeFileAtomically } from './atomic-write.ts';

afterEach(() => vi.restoreAllMocks());

/** The calls of the work; the one at `silent` gets no answer. */
async function calls(
  work: () => Promise<unknown>,
  silent: number,
): Promise<{ made: number; error: unknown }> {
  let made = 0;
  const { call } = diskCalls;
  vi.spyOn(diskCalls, 'call').mockImplementation((path, ask, discard) => {
    made += 1;
    if (made !== silent) return call(path, ask, discard);
    return Promise.reject(new Unreadable(path, 'ETIMEDOUT', 'does not answer.'));
  });
  const error: unknown = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  vi.restoreAllMocks();
  return { made, error };
}

const steps = [
  'look',
  'mode',
  'folder',
  'create',
  'chmod',
  'write',
  'sync',
  'close',
  'rename',
  'open',
  'sync',
  'close',
];

test('every step of a write to a file has its limit', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, 'old');
  const { made, error } = await calls(() => writeFileAtomically(file, 'new'), 0);
  expect([made, error]).toEqual([steps.length, undefined]);
  for (let step = 1; step <= steps.length; step += 1) {
    const folder = temporaryFolder();
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    const given = await calls(() => writeFileAtomically(path, 'new'), step);
    expect([step, given.error]).toEqual([step, expect.objectContaining({ code: 'ETIMEDOUT' })]);
    const isReplaced = step > steps.indexOf('rename') + 1;
    expect(readFileSync(path, 'utf8')).toBe(isReplaced ? 'new' : 'old');
    expect(readdirSync(folder)).toEqual(['file']);
  }
});

test('so has every step of adding a finding', async () => {
  const locks = { withLock: <T>(_file: string, work: () => Promise<T>) => work() };
  const finding = {
    ts: '2026-01-01T00:00:00.000Z',
    skill: 'tests',
    title: 'One',
    body: 'Two',
    severity: 'low' as const,
    tags: [],
  };
  const add = () => {
    const file = join(temporaryFolder(), '.svc/findings/current.jsonl');
    return createFindingsQueue({ file, locks }).append(finding);
  };
  const { made, error } = await calls(add, 0);
  expect(error).toBeUndefined();
  expect(made).toBeGreaterThan(8);
  for (let step = 1; step <= made; step += 1)
    expect([step, (await calls(add, step)).error]).toEqual([
      step,
      expect.objectContaining({ code: 'file-unusable', message: expect.stringContaining('ETIMEDOUT') }),
    ]);
});
