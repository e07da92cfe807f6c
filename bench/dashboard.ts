// What a user of the dashboard waits for: from a delivery's 200 to the changed pixel, the first load, and how the page
// performs with weeks of history and a thousand events a minute; and what both cost while nothing happens. Real
// Chromium, the shipped daemon. `npm run build`, then `npm run bench:dashboard`; `-- --events 50 --cards 500` for a quick
// run, `-- --idle` only for what they cost.
import type { Browser } from 'playwright-core';
import { openChromium } from '../packages/dashboard/e2e/chromium.ts';
import { describeMachine, judgeGoal, scriptOptions } from '../packages/testkit/src/script.ts';
import { writeHistory } from '../packages/testkit/src/tape/history.ts';
import { startTapeDaemon } from '../packages/testkit/src/tape/tape-daemon.ts';
import { measureFirstLoad } from './dashboard/first-load.ts';
import { type Cost, measureIdle } from './dashboard/idle.ts';
import { measurePixels } from './dashboard/pixels.ts';
import { judgeFrames, measureBlank, measureTraffic } from './dashboard/traffic.ts';

const options = scriptOptions({
  events: 500,
  cards: 10_000,
  'per-minute': 1_000,
  seconds: 30,
  'idle-seconds': 60,
  idle: false,
  source: false,
  'goal-p50': 150,
  'goal-p99': 500,
  'goal-frames': 60,
  'goal-heap': 200,
  'goal-script': 300,
});
let browser: Browser | undefined;

console.log(describeMachine());
try {
  browser = await openChromium();
  console.log(
    `Chromium ${browser.version()}, 1280 × 800, the daemon ${options.source ? 'from source' : 'as built'}`,
  );
  await idle(browser);
  if (!options.idle) {
    await firstLoadAndPixels(browser);
    await traffic(browser);
  }
} finally {
  await browser?.close();
}

async function idle(chromium: Browser): Promise<void> {
  const daemon = await startTapeDaemon({ past: 'end', built: !options.source });
  try {
    const seconds = options['idle-seconds'];
    const { alone, watched, page } = await measureIdle(chromium, daemon.url, daemon.pid, seconds);
    console.log(
      `idle for ${seconds} s: daemon ${words(alone)}; with the board open: daemon ${words(watched)}, the page ${words(page)} (shared code of Chromium included)`,
    );
  } finally {
    await daemon.close();
  }
}

function words({ megabytes, percent }: Cost): string {
  return `${megabytes} MB, ${percent.toFixed(1)} % of a core`;
}

async function firstLoadAndPixels(chromium: Browser): Promise<void> {
  const daemon = await startTapeDaemon({ past: 'end', built: !options.source });
  try {
    const load = await measureFirstLoad(chromium, daemon.url);
    judgeGoal('first load, JavaScript over the wire', load.scriptKilobytes, options['goal-script'], 'KB');
    console.log(
      `first load, empty cache: ${load.requests} requests, ${load.kilobytes.toFixed(0)} KB; first paint of content ${load.firstPaintMs.toFixed(0)} ms, largest ${load.largestPaintMs.toFixed(0)} ms, cards shown after ${load.cardsMs.toFixed(0)} ms, blocked ${load.blockedMs.toFixed(0)} ms (beyond 50 ms a task), layout shift ${load.layoutShift.toFixed(3)}`,
    );
    const pixels = await measurePixels(chromium, daemon, options.events);
    console.log(
      `200 of a signed delivery to the changed pixel, ${options.events} events: slowest ${pixels.slowestMs.toFixed(0)} ms`,
    );
    judgeGoal('200 to pixel, p50', pixels.p50Ms, options['goal-p50'], 'ms');
    judgeGoal('200 to pixel, p99', pixels.p99Ms, options['goal-p99'], 'ms');
  } finally {
    await daemon.close();
  }
}

async function traffic(chromium: Browser): Promise<void> {
  const { cards, seconds } = options;
  let lines = 0;
  const daemon = await startTapeDaemon({
    past: 'end',
    built: !options.source,
    history(eventsDir, until) {
      const written = writeHistory(eventsDir, { cards, until });
      lines = written.lines;
      return written;
    },
  });
  try {
    const perMinute = options['per-minute'];
    const blank = await measureBlank(chromium);
    const { frames, busy, heapMegabytes, processMegabytes, sent, shown, elements } = await measureTraffic(
      chromium,
      daemon,
      {
        perMinute,
        seconds,
      },
    );
    console.log(
      `${cards} cards of history (${lines} lines), ${Math.round((sent * 60) / seconds)} events a minute for ${seconds} s: ${shown} cards on the board, ${elements} elements`,
    );
    console.log(
      `the page's main thread was busy ${(busy * 100).toFixed(0)} % of the time; an empty page on this machine, just before: ${Math.round(blank)} frames a second`,
    );
    judgeFrames('under this load', frames, options['goal-frames']);
    judgeGoal('JavaScript heap in use after a collection', heapMegabytes, options['goal-heap'], 'MB');
    console.log(
      `resident memory of the page's process ${processMegabytes} MB (shared code of Chromium included)`,
    );
  } finally {
    await daemon.close();
  }
}
