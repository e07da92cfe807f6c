// The first load with an empty cache: the transferred bytes, and when something is visible.
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';

const WATCHED_MS = 3_000;

const watch = `
  window.watched = { largest: 0, blocked: 0, shift: 0, cards: 0 };
  const on = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  on('largest-contentful-paint', (entry) => { window.watched.largest = entry.startTime; });
  on('longtask', (entry) => { window.watched.blocked += Math.max(0, entry.duration - 50); });
  on('layout-shift', (entry) => { if (!entry.hadRecentInput) window.watched.shift += entry.value; });
  new MutationObserver(() => {
    if (window.watched.cards === 0 && document.querySelector('main a[href^="/tickets/"]') !== null)
      requestAnimationFrame(() => { window.watched.cards ||= performance.now(); });
  }).observe(document, { childList: true, subtree: true });
`;

type Watched = { largest: number; blocked: number; shift: number; cards: number; first: number };

export async function measureFirstLoad(browser: Browser, url: string) {
  const { page, close } = await openPage(browser);
  try {
    await page.addInitScript(watch);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const scripts = new Set<string>();
    let bytes = 0;
    let scriptBytes = 0;
    let requests = 0;
    session.on('Network.responseReceived', ({ requestId, type }) => {
      requests += 1;
      if (type === 'Script') scripts.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      bytes += encodedDataLength;
      if (scripts.has(requestId)) scriptBytes += encodedDataLength;
    });
    await page.goto(url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    await page.waitForTimeout(WATCHED_MS);
    const watched = await page.evaluate<Watched>(
      `({ ...window.watched, first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN })`,
    );
    return {
      scriptKilobytes: scriptBytes / 1_000,
      kilobytes: bytes / 1_000,
      requests,
      firstPaintMs: watched.first,
      largestPaintMs: watched.largest,
      cardsMs: watched.cards,
      blockedMs: watched.blocked,
      layoutShift: watched.shift,
    };
  } finally {
    await close();
  }
}
