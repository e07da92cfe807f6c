// The page under load without user input: its frames in each second, and its memory.
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';
import { failUnless } from '../../packages/testkit/src/script.ts';
import { liveEvents } from '../../packages/testkit/src/tape/live-events.ts';
import type { TapeDaemon } from '../../packages/testkit/src/tape/tape-daemon.ts';

/** Counts the frames of each second until they are read. */
export const countFrames = `
  window.frames = [];
  let last = performance.now();
  const next = (now) => {
    window.frames.push(now - last);
    last = now;
    window.counting = requestAnimationFrame(next);
  };
  window.counting = requestAnimationFrame(next);
`;

const BLANK_SECONDS = 5;

/** The frame rate of an idle page on this machine, for comparison with the one under load. */
export async function measureBlank(browser: Browser): Promise<number> {
  const { page, close } = await openPage(browser);
  try {
    await page.evaluate(countFrames);
    await page.waitForTimeout(BLANK_SECONDS * 1_000);
    return framesOf(await page.evaluate<number[]>('window.frames')).median;
  } finally {
    await close();
  }
}

export async function measureTraffic(
  browser: Browser,
  daemon: TapeDaemon,
  { perMinute, seconds }: { perMinute: number; seconds: number },
) {
  const { page, close } = await openPage(browser);
  try {
    await page.goto(daemon.url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor({ timeout: 120_000 });
    await page.waitForTimeout(2_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const live = liveEvents(daemon, { perMinute });
    await page.waitForTimeout(2_000);
    const before = live.sent();
    const figure = async (name: string): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics');
      return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    };
    const workedBefore = await figure('TaskDuration');
    await page.evaluate(countFrames);
    await page.waitForTimeout(seconds * 1_000);
    const deltas = await page.evaluate<number[]>('cancelAnimationFrame(window.counting), window.frames');
    const worked = (await figure('TaskDuration')) - workedBefore;
    const sent = live.sent() - before;
    await live.stop();
    if (live.problem() !== undefined) throw live.problem();
    await session.send('HeapProfiler.collectGarbage');
    const heap = await figure('JSHeapUsedSize');
    return {
      frames: framesOf(deltas),
      /** The share of time in which the page's main thread was busy. */
      busy: worked / seconds,
      heapMegabytes: heap / 2 ** 20,
      processMegabytes: rssMegabytes(await pageProcess(browser)),
      sent,
      /** Cards on the board at the end. */
      shown: await page.locator('section[aria-labelledby^=column-] a[href^="/tickets/"]').count(),
      elements: await page.evaluate<number>('document.querySelectorAll("*").length'),
    };
  } finally {
    await close();
  }
}

export function framesOf(deltas: readonly number[]) {
  const perSecond: number[] = [];
  let count = 0;
  let elapsed = 0;
  for (const delta of deltas) {
    count += 1;
    elapsed += delta;
    if (elapsed < 1_000) continue;
    perSecond.push((count * 1_000) / elapsed);
    count = 0;
    elapsed = 0;
  }
  const sorted = perSecond.toSorted((one, other) => one - other);
  return {
    median: sorted[sorted.length >> 1] ?? 0,
    worst: Math.round(sorted[0] ?? 0),
    longestMs: Math.max(...deltas),
  };
}

/** The median of the seconds has to reach the goal. */
export function judgeFrames(
  what: string,
  { median, worst, longestMs }: ReturnType<typeof framesOf>,
  goal: number,
): void {
  const isReached = Math.round(median) >= goal;
  console.log(
    `${what}: ${Math.round(median)} frames a second (median of the seconds, goal ${goal}: ${isReached ? 'reached' : 'NOT reached'}), worst second ${worst}, longest frame ${longestMs.toFixed(0)} ms`,
  );
  failUnless(isReached);
}

/** The largest of the browser's page processes: that of the open page. */
export async function pageProcess(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pages = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const [largest] = pages.toSorted((one, other) => rssMegabytes(other) - rssMegabytes(one));
  if (largest === undefined) throw new Error('the browser has no page');
  return largest;
}
