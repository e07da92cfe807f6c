// The dashboard as a person uses it: everything that a journey sees and presses there, by roles and names. Every key and
// click counts.
import type { Browser, Locator, Page } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import type { Hands } from './hands.ts';

export type Screens = Awaited<ReturnType<typeof openScreens>>;

/** `url` is the address that the terminal shows: to open it counts. */
export async function openScreens(browser: Browser, url: string, hands: Hands) {
  const { page, problems, close } = await openPage(browser);
  hands.did(`opens ${url}`);
  await page.goto(url);

  async function click(target: Locator, what: string): Promise<void> {
    await target.click().catch(async () => {
      // A dialog is at the end.
      const shown = (await page.locator('body').innerText()).slice(-1_500);
      throw new Error(`${what} could not be clicked. The page ends with:\n${shown}`);
    });
    hands.did(`clicks ${what}`);
  }

  async function press(key: string): Promise<void> {
    await page.keyboard.press(key);
    hands.did(`presses ${key}`);
  }

  return {
    page,
    problems,
    close,
    click,
    press,
    async type(target: Locator, text: string): Promise<void> {
      await target.fill(text);
      hands.did('types a text');
    },
    /** The board is live: before that a task cannot be started. */
    async isReady(): Promise<void> {
      await page.getByRole('button', { name: 'New task', disabled: false }).waitFor();
    },
    /** The ticket whose page it shows. */
    async openedTicket(): Promise<string> {
      await page.waitForURL(/\/tickets\/[^/]+$/);
      return decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    },
    ...places(page),
  };
}

/** The only place that knows how the screens are built. */
function places(page: Page) {
  const dialog = page.getByRole('dialog');
  const requests = (within: Locator | Page): Locator => within.getByRole('region', { name: 'Open requests' });
  return {
    firstBoard: page.getByRole('region', { name: 'Start your first agent' }),
    /** For a ticket in the list of open tickets. */
    startTicket: (ticket: string): Locator =>
      page
        .getByRole('listitem')
        .filter({ hasText: ticket })
        .getByRole('button', { name: /^Start/ }),
    dialog: {
      text: dialog.getByLabel('What should be done?'),
      start: dialog.getByRole('button', { name: 'Start', exact: true }),
    },
    card: (ticket: string): Locator => page.locator(`[data-card$="/${ticket}"]`),
    /** Whatever the agent calls it: allowing once comes first. */
    allow: (within: Locator | Page): Locator => requests(within).getByRole('button').first(),
    /** At the end of every screen that does not show the request itself. */
    notice: (ticket: string): Locator =>
      page.getByRole('region', { name: 'Waits for your permission' }).filter({ hasText: ticket }),
    /** The column of what waits for a person. */
    needsPerson: page.locator('section[aria-labelledby=column-needs-you]'),
    selectedItem: page.getByRole('region', { name: 'Selected item' }),
  };
}
