// From the 200 of a signed delivery to the frame that shows it: a check of an open pull request fails and passes in
// turn, and its card on the board shows it. Both clocks are the machine's.
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '@svc/lib/timeout';
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { type Example, patched } from '../../packages/testkit/src/payloads/examples.ts';
import { createRandom } from '../../packages/testkit/src/random.ts';
import { spreadOf } from '../../packages/testkit/src/script.ts';
import { sendCodehost } from '../../packages/testkit/src/tape/send.ts';
import type { TapeDaemon } from '../../packages/testkit/src/tape/tape-daemon.ts';

const TICKET = 'TID-126';
const PR = 426;
const WATCHED_MS = 10_000;

/** `window.shown(text)` in the page resolves to the time of the first frame after that element has the text. */
const watchText = (selector: string): string => `
  window.shown = (wanted) => new Promise((resolve) => {
    const hasText = () => document.querySelector('${selector}')?.textContent?.includes(wanted) === true;
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
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
`;

/** A page with the card of a ticket. `shown` is called before the change that it waits for. */
export async function openCard(browser: Browser, url: string, ticket: string) {
  const { page, close } = await openPage(browser);
  await page.addInitScript(watchText(`main a[href^="/tickets/${ticket}"]`));
  await page.goto(url);
  await page.locator(`main a[href^="/tickets/${ticket}"]`).first().waitFor();
  await page.waitForTimeout(1_000);
  return {
    close,
    shown(text: string): Promise<number> {
      const shown = page.evaluate<number>(`window.shown(${JSON.stringify(text)})`);
      return within(shown, WATCHED_MS, () => {
        throw new Error(`the page does not show ${text} after ${WATCHED_MS} ms`);
      });
    },
  };
}

export async function measurePixels(browser: Browser, daemon: TapeDaemon, events: number) {
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
    return spreadOf(times);
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
