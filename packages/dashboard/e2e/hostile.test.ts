// A day on which every text from outside is an attack: none of it runs or becomes an element, and the screens stay
// readable.
import { describe, expect, it } from 'vitest';
import { PWNED } from '../../testkit/src/tape/hostile.ts';
import { sizes } from './chromium.ts';
import { overflow, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end', hostile: true });

/** What the attacks would leave behind if any were parsed as HTML or run. */
const traces = `(() => ({
  ran: window.${PWNED},
  frames: document.querySelectorAll('iframe, object, embed').length,
  pictures: document.querySelectorAll('img[src="x"]').length,
  base: document.querySelectorAll('base').length,
  scripts: [...document.querySelectorAll('script')].filter((script) => !script.src).length,
  styled: [...document.querySelectorAll('style')].some((style) => style.textContent.includes('display:none!important')),
  handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length,
  links: [...document.querySelectorAll('[href], [src], [action], [formaction]')]
    .flatMap((element) => ['href', 'src', 'action', 'formaction'].map((name) => element.getAttribute(name)))
    .filter((address) => address !== null && /^\\s*(?:javascript|data|vbscript):/i.test(address)),
  hidden: document.querySelector('main') === null || getComputedStyle(document.body).display === 'none',
}))()`;

const nothing = {
  frames: 0,
  pictures: 0,
  base: 0,
  scripts: 0,
  styled: false,
  handlers: 0,
  links: [],
  hidden: false,
};

const own = ['/events?seq=120', '/events?ticket=TID-128', '/runs/run-guest-berths', '/?at=300', '/nowhere'];

describe('a hostile day', () => {
  it.each([...screens.map(({ path }) => path), ...own])('does nothing on %s', async (path) => {
    const { page, problems } = await tape.openAgain();
    await page.goto(tape.daemon().url + path);
    await page.locator('main').waitFor();
    await page.waitForFunction(() => (document.querySelector('main')?.textContent ?? '').length > 40);
    for (const size of [sizes.wide, sizes.narrow]) {
      await page.setViewportSize(size);
      await settled(page);
      // Tooltips contain text from outside too.
      await page.evaluate(async () => {
        for (const link of [...document.querySelectorAll<HTMLElement>('main a[href]')].slice(0, 12)) {
          link.focus();
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
        }
      });
      expect(await page.evaluate(traces)).toEqual(nothing);
      expect(await problems()).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
  });

  it('shows the attack as plain text', async () => {
    const { page } = await tape.open();
    await page.goto(tape.daemon().url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    expect(await page.locator('main').textContent()).toMatch(/<script>window|onerror=|javascript:/);
  });
});
