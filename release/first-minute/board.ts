// The dashboard in a real browser: cards are there, and one moves while nobody touches anything.
import { openChromium, openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { until, WAIT_MS } from '../../packages/testkit/src/waiting.ts';

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
    await page.goto(url, { timeout: WAIT_MS });
    await page.locator('main a[href^="/tickets/"]').first().waitFor({ timeout: WAIT_MS });
    const shownAt = performance.now();
    const before = new Set(await page.evaluate<string[]>(PLACES));
    const moved = await until(async () =>
      (await page.evaluate<string[]>(PLACES)).find((place) => !before.has(place)),
    );
    return { cards: before.size, shownAt, moved, movedAt: performance.now(), problems: await problems() };
  } finally {
    await browser.close();
  }
}
