// Every screen with the tape's day: no accessibility problems in both themes, no horizontal overflow in both widths,
// and no errors in the browser.
import { beforeAll, expect, it } from 'vitest';
import { axeFindings } from './axe.ts';
import { sizes } from './chromium.ts';
import { goTo, overflow, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });

beforeAll(() => tape.daemon().svc('archive', 'sweep', 'run-harbour-hours'));

it.each(screens)('shows $name in both themes, wide and narrow', async (screen) => {
  // Loaded in one theme and switched to the other, so both ways to set a theme are tested.
  const { page, problems } = await tape.openAgain();
  await page.emulateMedia({ colorScheme: 'dark' });
  const theme = () => page.locator('html').getAttribute('data-theme');
  await goTo(page, tape.daemon().url, screen);
  await settled(page);
  expect(await theme()).toBe('dark');
  expect(await axeFindings(page), 'dark').toEqual([]);
  expect(await overflow(page), 'wide').toBeLessThanOrEqual(0);

  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(theme).toBe('light');
  await settled(page);
  expect(await axeFindings(page, 'colours'), 'light').toEqual([]);

  await page.setViewportSize(sizes.narrow);
  await settled(page);
  expect(await overflow(page), 'narrow').toBeLessThanOrEqual(0);
  expect(await problems()).toEqual([]);
});

it.each(['Archive', 'Configuration', 'Doctor'])('%s can be reached on a phone', async (name) => {
  const { page } = await tape.open({ size: 'narrow' });
  await page.goto(tape.daemon().url);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name }).click();
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});
