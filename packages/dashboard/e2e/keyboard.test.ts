// Everything without a mouse: navigation, the palette, the shortcuts, attention and the log.
import type { Page } from 'playwright-core';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { describe, expect, it } from 'vitest';
import { goTo, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });

const screen = (name: string) => screens.find((one) => one.name === name) ?? unknown(name);

function unknown(name: string): never {
  throw new Error(`there is no screen ${name}`);
}

/** A page at this screen, ready for keys. */
async function openAt(name: string): Promise<Page> {
  const { page } = await tape.open();
  await goTo(page, tape.daemon().url, screen(name));
  await settled(page);
  return page;
}

const path = (page: Page): string => new URL(page.url()).pathname;

describe('by keyboard alone', () => {
  it('goes to every screen with g and a letter', async () => {
    const page = await openAt('board');
    for (const [key, where] of [
      ['a', '/attention'],
      ['r', '/runs'],
      ['e', '/events'],
      ['t', '/telemetry'],
      ['h', '/'],
      ['e', '/events'],
      ['b', '/'],
    ] as const) {
      // Sent together: the second key counts only shortly after the first.
      await Promise.all([page.keyboard.press('g'), page.keyboard.press(key)]);
      await expect.poll(() => path(page)).toBe(where);
    }
  });

  it('names the tab after the screen', async () => {
    const page = await openAt('ticket');
    await expect
      .poll(() => page.title())
      .toMatch(/^(?:\(\d+\) )?TID-104 Let a skipper extend a stay from the phone · svc$/);
  });

  it('closes the status of the data with Esc, and on the way to another screen', async () => {
    const page = await openAt('board');
    const open = page.getByRole('button', { name: 'Show all components' });
    const shown = page.getByRole('region', { name: 'Data status' }).getByText('the board is up to date');
    await open.click();
    await shown.waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => shown.count()).toBe(0);
    await open.click();
    await shown.waitFor();
    await page.getByRole('link', { name: 'Doctor' }).click();
    await expect.poll(() => shown.count()).toBe(0);
  });

  it('skips to the content, and reaches every card with a ring around it', async () => {
    const page = await openAt('board');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    const reached = new Set<string>();
    for (let press = 0; press < 120; press += 1) {
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => {
        const element = document.activeElement;
        if (!(element instanceof HTMLElement)) return null;
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        const ring =
          (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2) || boxShadow !== 'none';
        return { href: element.getAttribute('href') ?? '', ring, tag: element.tagName };
      });
      if (focus === null || focus.tag === 'BODY') break;
      expect(focus.ring, `${focus.tag} ${focus.href} shows the focus`).toBe(true);
      if (focus.href.startsWith('/tickets/')) reached.add(focus.href.split('?')[0] ?? '');
    }
    const cards = await page.locator('section[aria-labelledby^=column-] a[href^="/tickets/"]').count();
    expect(reached.size).toBe(cards);
  });

  it('shows why a card is in its column', async () => {
    const page = await openAt('board');
    await page.locator('a[href^="/tickets/TID-106"]').first().focus();
    await page
      .getByRole('tooltip')
      .getByText(/a person has to decide/)
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => path(page)).toBe('/tickets/TID-106');
  });

  it('finds a ticket through the palette', async () => {
    const page = await openAt('board');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('TID-128');
    await page
      .getByRole('option', { name: /TID-128/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => path(page)).toBe('/tickets/TID-128');
  });

  it.each(['start', 'allow', 'pause', 'poll now'])('has a command for "%s"', async (word) => {
    const page = await openAt('board');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(word);
    await expect.poll(() => page.getByText('No results.').count()).toBe(0);
    await expect
      .poll(() => page.getByRole('group', { name: 'Actions' }).getByRole('option').count())
      .toBeGreaterThan(0);
  });

  it('polls now from the palette, and says what each feed found', async () => {
    const page = await openAt('board');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('poll now');
    await page.keyboard.press('Enter');
    const found = page.getByText(/code host: .*(?:tracker|TID)/);
    await expect.poll(() => found.count()).toBeGreaterThan(0);
  });

  it('lists the shortcuts with ?, and closes with Escape', async () => {
    const page = await openAt('board');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Attention').first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('moves through the log, opens an event, pauses and resumes', async () => {
    const page = await openAt('events');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await expect.poll(() => new URL(page.url()).searchParams.get('seq')).not.toBeNull();
    await page.getByText('svc events wait-for').first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('seq')).toBeNull();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  it('acknowledges and snoozes attention items', async () => {
    const page = await openAt('attention');
    const items = async (): Promise<BoardView['attention']> => {
      const response = await fetch(`${tape.daemon().url}/api/board`);
      return ((await response.json()) as BoardView).attention;
    };
    const acknowledged = async (): Promise<number> =>
      (await items()).filter((item) => item.acknowledged !== null).length;
    const snoozed = async (): Promise<number> =>
      (await items()).filter(({ snoozedUntil }) => snoozedUntil !== null).length;
    const before = { acknowledged: await acknowledged(), snoozed: await snoozed() };
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await expect.poll(acknowledged).toBe(before.acknowledged + 1);
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    // The menu asks for how long; the first choice is taken.
    await page.locator('[role=menu]:focus-within').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('[role=menuitem]:focus').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(snoozed).toBe(before.snoozed + 1);
  });
});
