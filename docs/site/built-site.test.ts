// The built site in a real browser, from disk: search, narrow screens, and no network requests.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openChromium } from '../../packages/dashboard/e2e/chromium.ts';
import { buildSite } from './build.ts';
import { pageProblems } from './check.ts';

test('every page fits a narrow screen, keeps flags whole, makes no network request, and is found by the search', async () => {
  const site = join(temporaryFolder(), 'site');
  buildSite(site);
  expect(pageProblems(site)).toEqual([]);
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!/^(?:file|data):/.test(request.url())) complaints.push(request.url());
  });

  const pages = globSync(join(site, '**/*.html'));
  expect(pages.length).toBeGreaterThan(40);
  const wide: string[] = [];
  for (const file of pages) {
    await page.goto(pathToFileURL(file).href);
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (over > 0) wide.push(`${file}: ${over} px`);
    const broken = await page.evaluate<string[]>(
      "[...document.querySelectorAll('main .flag')].filter((flag) => flag.getClientRects().length > 1).map((flag) => flag.textContent)",
    );
    wide.push(...broken.map((flag) => `${file}: ${flag} is on two lines`));
  }
  expect(wide).toEqual([]);

  await page.goto(pathToFileURL(join(site, 'relay/security.html')).href);
  await page.keyboard.press('/');
  await page.keyboard.type('daemon is not running');
  await page.keyboard.press('Enter');
  await page.waitForURL(/guide\/troubleshooting\.html#the-daemon$/);
  // What is in the guide comes before internals and reference.
  await page.keyboard.press('/');
  await page.keyboard.type('permission');
  const found = await page.evaluate<string[]>(
    "[...document.querySelectorAll('form[role=search] li a')].map((link) => link.getAttribute('href'))",
  );
  expect(found.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('guide/')));
  expect(complaints).toEqual([]);
});
