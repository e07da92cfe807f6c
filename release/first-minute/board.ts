// The dashboard in a real browser: cards are there, and one moves while nobody touches anything.
import { setTimeout as sleep } from 'node:timers/promises';
import { openChromium, openPage } from '../../packages/dashboard/e2e/chromium.ts';

const CHANGE_WITHIN_MS = 60_000;

/** Each card with its column, as the page has it. Runs in the page. */
const PLACES = `[...document.querySelectorAll('main section[aria-labelledby^=column-]')].flatMap((column) =>
  [...column.querySelectorAll('a[href^="/tickets/"]')].map(
    (card) => card.getAttribute('href') + ' in ' + column.getAttribute('aria-labelledby').slice('column-'.length)))`;

export type Watched = { cards: number; shownAt: number; moved: string; movedAt: number; problems: string[] };

/** Times are those of `performance.now()`. */
export async function watchBoard(url: string): Promise<Watched> {
  const browser = await openChromium();
  try {
    const { page, problems } = await openPage(browser);
    await page.goto(url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    const shownAt = performance.now();
    const before = new Set(await page.evaluate<string[]>(PLACES));
    const deadline = shownAt + CHANGE_WITHIN_MS;
    for (;;) {
      const now = await page.evaluate<string[]>(PLACES);
      const moved = now.find((place) => !before.has(place));
      if (moved !== undefined)
        return { cards: before.size, shownAt, moved, movedAt: performance.now(), problems: await problems() };
      if (performance.now() > deadline) throw new Error(`no card moved in ${CHANGE_WITHIN_MS / 1_000} s`);
      await sleep(50);
    }
  } finally {
    await browser.close();
  }
}
