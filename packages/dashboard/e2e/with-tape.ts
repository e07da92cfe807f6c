// A daemon with the tape's day and a browser, for the tests of one file.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, onTestFailed, onTestFinished } from 'vitest';
import { startTapeDaemon, type TapeDaemon, type TapeOptions } from '../../testkit/src/tape/tape-daemon.ts';
import { openChromium, openPage, sizes, type WatchedPage } from './chromium.ts';

export type WithTape = {
  daemon: () => TapeDaemon;
  browser: () => Browser;
  /** A page that is closed with the test, without animations. */
  open: (given?: Parameters<typeof openPage>[1]) => Promise<WatchedPage>;
  /** One page for the rows of a table, which load their own address: it keeps the app's files, compiled. Wide and light. */
  openAgain: () => Promise<WatchedPage>;
};

/** At the top of a file: `const tape = withTape({ past: 'end' });` */
export function withTape(options: TapeOptions = {}): WithTape {
  let daemon: TapeDaemon | undefined;
  let browser: Browser | undefined;
  let again: WatchedPage | undefined;
  beforeAll(async () => {
    if (!existsSync(join(import.meta.dirname, '../dist/index.html')))
      throw new Error('The web app is not built. Run: npm run build');
    browser = await openChromium();
    daemon = await startTapeDaemon(options);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.close();
  });
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('it is started before the first test');
    return value;
  };
  return {
    daemon: () => started(daemon),
    browser: () => started(browser),
    async open(given) {
      const page = await openPage(started(browser), { reducedMotion: true, ...given });
      onTestFinished(page.close);
      return page;
    },
    async openAgain() {
      again ??= await openPage(started(browser), { reducedMotion: true });
      // If the page does not answer, the next row must not wait for it too.
      onTestFailed(() => {
        again = undefined;
      });
      await again.page.setViewportSize(sizes.wide);
      await again.page.emulateMedia({ colorScheme: 'light' });
      return again;
    },
  };
}
