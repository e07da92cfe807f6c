// From the 200 of a signed delivery to the frame that shows it: a check of an open pull request fails and passes in
// turn, and its card on the board shows it. Both clocks are the machine's.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { type Example, patched } from '../../packages/testkit/src/payloads/examples.ts';
import { createRandom } from '../../packages/testkit/src/random.ts';
import { sendCodehost } from '../../packages/testkit/src/tape/send.ts';
import type { TapeDaemon } from '../../packages/testkit/src/tape/tape-daemon.ts';

export type Pixels = {
  count: number;
  fastest: number;
  p50: number;
  p90: number;
  p99: number;
  slowest: number;
};

const TICKET = 'TID-126';
const PR = 426;

/** `shown(text)` in the page resolves to the time of the first frame after the ticket's card has the text. */
const watchCard = (ticket: string): string => `
  window.shown = (wanted) => new Promise((resolve) => {
    const hasText = () => document.querySelector('main a[href^="/tickets/${ticket}"]')?.textContent?.includes(wanted) === true;
    const report = () => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
      channel.port2.postMessage(null);
    });
    if (hasText()) return report();
    const observer = new MutationObserver(() => {
      if (!hasText()) return;
      observer.disconnect();
      report();
    });
    observer.observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
  });
`;

/** A page with the card of a ticket. `shown` is called before the change that it waits for. */
export async function openCard(browser: Browser, url: string, ticket: string) {
  const { page, close } = await openPage(browser);
  await page.addInitScript(watchCard(ticket));
  await page.goto(url);
  await page.locator(`main a[href^="/tickets/${ticket}"]`).first().waitFor();
  await page.waitForTimeout(1_000);
  return {
    close,
    shown(text: string): Promise<number> {
      return within(page.evaluate<number>(`window.shown(${JSON.stringify(text)})`), 10_000);
    },
  };
}

export async function measurePixels(browser: Browser, daemon: TapeDaemon, events: number): Promise<Pixels> {
  const random = createRandom(11);
  const card = await openCard(browser, daemon.url, TICKET);
  try {
    const now = new Date();
    const head = { sha: 'be'.repeat(20) };
    const pushed = recordedOf(daemon, 'pull_request');
    await sendCodehost(daemon, 'pull_request', patched(pushed, 'pushed', { pull_request: { head } }).payload);
    const check = recordedOf(daemon, 'check_suite');
    const times: number[] = [];
    for (let event = 0; event < events; event += 1) {
      const fails = event % 2 === 0;
      const shown = card.shown(fails ? '1 failed' : '1 passed');
      // The code host's times are whole seconds, and a delivery must be newer than the last to count.
      const updated_at = new Date(now.getTime() + (event + 1) * 1_000).toISOString();
      const conclusion = fails ? 'failure' : 'success';
      const check_suite = { id: 9_000, status: 'completed', conclusion, head_sha: head.sha, updated_at };
      const { payload } = patched(check, 'checked', { action: 'completed', check_suite });
      await sendCodehost(daemon, 'check_suite', payload);
      const answered = performance.timeOrigin + performance.now();
      times.push(Math.max(0, (await shown) - answered));
      await sleep(20 + random.below(120));
    }
    return figuresOf(times);
  } finally {
    await card.close();
  }
}

/** The day's newest delivery of the type for the pull request, with the current time. */
function recordedOf({ day }: TapeDaemon, type: string): Example {
  const found = day.records.findLast(
    (record) =>
      record.kind === 'codehost' && record.type === type && JSON.stringify(record).includes(`"number":${PR}`),
  );
  if (found?.kind !== 'codehost') throw new Error(`the recorded day has no ${type} of ${PR}`);
  return { name: type, type, payload: day.dated(found, new Date()).payload };
}

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const late = sleep(timeoutMs).then((): never => {
    throw new Error(`the page does not show it after ${timeoutMs} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([promise, late]);
}

function figuresOf(times: readonly number[]): Pixels {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { count: sorted.length, fastest: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), slowest: at(1) };
}
