import { expect, onTestFinished, test } from 'vitest';
import { every } from './rounds.ts';

/** Work that lasts until it is let go, and the number of runs that began. */
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

test('a run joins the one that is under way', async () => {
  const { rounds, begun, letGo } = slowWork();
  const both = [rounds.runNow(), rounds.runNow()];
  letGo(0);
  await Promise.all(both);
  expect(begun()).toBe(1);
});

test('what must begin afresh waits for the run that is under way, and several share one', async () => {
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

test('with nothing under way it begins at once; after the stop nothing begins', async () => {
  const { rounds, begun, letGo } = slowWork();
  const first = rounds.runAfresh();
  expect(begun()).toBe(1);
  const late = rounds.runAfresh();
  const stopped = rounds.stop();
  letGo(0);
  await Promise.all([first, late, stopped]);
  expect(begun()).toBe(1);
});
