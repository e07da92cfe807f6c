// What svc costs while nothing happens: the daemon alone, and with the board open in a browser.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { cpuMicroseconds, rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';
import { pageProcess } from './traffic.ts';

/** `percent` is processor time as a share of one core. */
export type Cost = { megabytes: number; percent: number };

/** After a start the daemon reads its log and asks the services; a page draws its first frames. */
const SETTLING_MS = 15_000;

export async function measureIdle(browser: Browser, url: string, pid: number, seconds: number) {
  await sleep(SETTLING_MS);
  const [alone] = await costsOf([pid], seconds);
  const { page, close } = await openPage(browser);
  try {
    await page.goto(url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    await sleep(SETTLING_MS);
    const [watched, shown] = await costsOf([pid, await pageProcess(browser)], seconds);
    if (alone === undefined || watched === undefined || shown === undefined)
      throw new Error('a process was not measured');
    return { alone, watched, page: shown };
  } finally {
    await close();
  }
}

async function costsOf(pids: readonly number[], seconds: number): Promise<Cost[]> {
  const before = pids.map(cpuMicroseconds);
  const started = performance.now();
  await sleep(seconds * 1_000);
  const microseconds = (performance.now() - started) * 1_000;
  return pids.map((pid, index) => ({
    megabytes: rssMegabytes(pid),
    percent: ((cpuMicroseconds(pid) - (before[index] ?? 0)) / microseconds) * 100,
  }));
}
