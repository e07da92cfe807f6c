// Every screen, with a URL at which it shows data of the tape's day.
import type { Page } from 'playwright-core';
import { until, WAIT_MS } from '../../testkit/src/waiting.ts';
import { traffic } from './chromium.ts';

export type Screen = {
  name: string;
  path: string;
  /** A text that is only there once the data has loaded. */
  shows: string | RegExp;
};

export const screens: readonly Screen[] = [
  { name: 'board', path: '/', shows: 'Let a skipper extend a stay from the phone' },
  { name: 'ticket', path: '/tickets/TID-104', shows: 'Let a skipper extend a stay from the phone' },
  { name: 'ticket-done', path: '/tickets/TID-101', shows: 'Store guest berth prices per season' },
  { name: 'runs', path: '/runs', shows: 'Winter storage' },
  { name: 'run', path: '/runs/run-guest-berths', shows: 'TID-109' },
  { name: 'attention', path: '/attention', shows: /3 deployments to production failed/ },
  { name: 'events', path: '/events', shows: /TID-1\d\d/ },
  { name: 'telemetry', path: '/telemetry', shows: 'run-winter-storage' },
  { name: 'archive', path: '/archive', shows: 'run-harbour-hours' },
  { name: 'configuration', path: '/configuration', shows: 'svc.project.ticketPrefix' },
  { name: 'doctor', path: '/doctor', shows: 'Healthy' },
];

/** Opens the screen and waits for its data. */
export async function goTo(
  page: Page,
  url: string,
  { path, shows }: Screen,
  timeoutMs = WAIT_MS,
): Promise<void> {
  await page.goto(url + path);
  await page.locator('main').getByText(shows).first().waitFor({ timeout: timeoutMs });
}

/** Waits until all responses are rendered, fonts are loaded, and animations have ended. */
export async function settled(page: Page): Promise<void> {
  const requests = traffic(page);
  for (let made = -1; made !== requests.made; ) {
    await until(() => requests.underWay.size === 0);
    made = requests.made;
    await page.evaluate(async () => {
      await document.fonts.ready;
      // Responses are rendered in the first frame and visible in the second.
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    });
  }
}

/** By how many pixels the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
