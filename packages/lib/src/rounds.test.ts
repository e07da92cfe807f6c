import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { every } from './rounds.ts';

/** Work that lasts until it is released, and the number of started runs. */
function slowWork() {
  const letGo: (() => void)[] = [];
  const rounds = every(
    3_600_000,
    () => new Promise<void>((resolve) => letGo.push(resolve)),
    () => undefined,
  );
  onTestFinished(() => {
    for (const go of letGo) go();
    return rounds.stop();
  });
  return { rounds, begun: () => letGo.length, letGo: (index: number) => letGo[index]?.() };
}

test('a call joins the current run', async () => {
  const { rounds, begun, letGo } = slowWork();
  const both = [rounds.runNow(), rounds.runNow()];
  letGo(0);
  await Promise.all(both);
  expect(begun()).toBe(1);
});

test('a fresh run waits for the current one, and several calls share it', async () => {
  const { rounds, begun, letGo } = slowWork();
  const first = rounds.runNow();
  const afresh = [rounds.runAfresh(), rounds.runAfresh()];
  expect(begun()).toBe(1);
  letGo(0);
  await first;
  await expect.poll(begun).toBe(2);
  letGo(1);
  await Promise.all(afresh);
  expect(begun()).toBe(2);
});

test('without a current run it starts at once; after the stop nothing starts', async () => {
  const { rounds, begun, letGo } = slowWork();
  const first = rounds.runAfresh();
  expect(begun()).toBe(1);
  void rounds.runAfresh();
  const stopped = rounds.stop();
  letGo(0);
  await Promise.all([first, stopped]);
  void rounds.runAfresh();
  void rounds.runNow();
  await nextTurn();
  expect(begun()).toBe(1);
});
