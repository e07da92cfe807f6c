// Every screen in both themes and at three widths, from a real daemon with the tape's day:
//
//   npm run screenshots              into screenshots/, which git ignores
//   npm run screenshots -- --keep    those of the README and the guide, small, into docs/images/
//   npm run screenshots -- --only board --url http://127.0.0.1:7400
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { liveEvents } from '../testkit/src/tape/live-events.ts';
import { startTapeDaemon, type TapeDaemon } from '../testkit/src/tape/tape-daemon.ts';
import { openChromium, openPage, sizes, type Theme, themes } from './e2e/chromium.ts';
import { goTo, type Screen, screens, settled } from './e2e/screens.ts';

const root = join(import.meta.dirname, '../..');
const MOST_BYTES = 150_000;

/** A phone has touch, and kept pictures have the widths of their pages. */
const widths = { wide: 1_440, medium: 1_024, narrow: 390 } as const;
type Width = keyof typeof widths;

const kept: readonly { name: string; theme: Theme; size: Width }[] = [
  { name: 'board', theme: 'light', size: 'wide' },
  { name: 'board', theme: 'dark', size: 'wide' },
  { name: 'board', theme: 'dark', size: 'narrow' },
  { name: 'ticket', theme: 'light', size: 'wide' },
  { name: 'run', theme: 'light', size: 'wide' },
  { name: 'attention', theme: 'dark', size: 'wide' },
  { name: 'events', theme: 'light', size: 'wide' },
];

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    only: { type: 'string' },
    url: { type: 'string' },
    out: { type: 'string' },
    hostile: { type: 'boolean', default: false },
    past: { type: 'string' },
  },
});

let daemon: TapeDaemon | undefined;
let browser: Browser | undefined;
try {
  if (values.url === undefined)
    daemon = await startTapeDaemon({
      hostile: values.hostile,
      ...(values.past === 'nothing' && { past: 'nothing' }),
    });
  if (daemon !== undefined && values.past !== 'nothing') await addActivity(daemon);
  const url = values.url ?? daemon?.url ?? '';
  browser = await openChromium();
  await shoot(browser, url);
} finally {
  await browser?.close();
  await daemon?.close();
}

/** Archives a run and sends some deliveries, so every screen has data. */
async function addActivity(tape: TapeDaemon): Promise<void> {
  const { code, printed } = await tape.svc('archive', 'sweep', 'run-harbour-hours');
  if (code !== 0) console.error(printed);
  const live = liveEvents(tape, { perMinute: 240 });
  await sleep(6_000);
  await live.stop();
}

async function shoot(chromium: Browser, url: string): Promise<void> {
  const out = values.out ?? join(root, values.keep ? 'docs/images' : 'screenshots');
  if (!values.keep && values.out === undefined) rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const wanted = screens.filter(({ name }) => values.only === undefined || name === values.only);
  for (const theme of themes) {
    for (const size of Object.keys(widths) as Width[]) {
      const like = size === 'narrow' ? 'narrow' : 'wide';
      const { page, close, problems } = await openPage(chromium, {
        theme,
        size: like,
        scale: values.keep ? 2 : 1,
      });
      if (!values.keep) await page.setViewportSize({ ...sizes[like], width: widths[size] });
      for (const screen of wanted) {
        const isKept = kept.some(
          (one) => one.name === screen.name && one.theme === theme && one.size === size,
        );
        if (values.keep && !isKept) continue;
        await show(page, url, screen);
        const file = join(out, `${screen.name}-${theme}-${size}.${values.keep ? 'webp' : 'png'}`);
        const bytes = values.keep ? await smallPicture(page) : await page.screenshot();
        writeFileSync(file, bytes);
        console.log(`${file} ${Math.round(bytes.length / 1_000)} KB`);
      }
      for (const problem of await problems()) console.error(problem);
      await close();
    }
  }
}

/** If the data does not load, the screenshot shows the screen as it is. */
async function show(page: Page, url: string, screen: Screen): Promise<void> {
  await goTo(page, url, screen, 12_000).catch((error: unknown) => {
    console.error(`${screen.path} does not show ${screen.shows}: ${String(error).split('\n')[0]}`);
  });
  await settled(page);
}

/** The best quality that fits, encoded by Chromium. */
async function smallPicture(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  for (const quality of [90, 80, 70, 55, 40]) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length <= MOST_BYTES || quality === 40) return bytes;
  }
  throw new Error('there is no picture');
}
