// From the 200 of a signed delivery to the frame that shows it: a check of an open pull request fails and passes in
// turn, and its card on the board says so. Both clocks are the machine's.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { openPage } from '../../packages/dashboard/e2e/chromium.ts';
import { createRandom } from '../../packages/testkit/src/random.ts';
import type { Change } from '../../packages/testkit/src/tape/codehost-payloads.ts';
import { checkSuitePayload, pullRequestPayload } from '../../packages/testkit/src/tape/codehost-payloads.ts';
import { plannedTicket } from '../../packages/testkit/src/tape/product.ts';
import { branchNamed } from '../../packages/testkit/src/tape/pull-request-teller.ts';
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

/** `shown(text)` resolves to the time of the first frame after the card says it. */
const watchCard = `
  window.shown = (wanted) => new Promise((resolve) => {
    const says = () => document.querySelector('main a[href^="/tickets/${TICKET}"]')?.textContent?.includes(wanted) === true;
    const told = () => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
      channel.port2.postMessage(null);
    });
    if (says()) return told();
    const observer = new MutationObserver(() => {
      if (!says()) return;
      observer.disconnect();
      told();
    });
    observer.observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
  });
`;

export async function measurePixels(browser: Browser, daemon: TapeDaemon, events: number): Promise<Pixels> {
  const { page, close } = await openPage(browser);
  const random = createRandom(11);
  try {
    await page.addInitScript(watchCard);
    await page.goto(daemon.url);
    await page.locator(`main a[href^="/tickets/${TICKET}"]`).first().waitFor();
    await page.waitForTimeout(1_000);
    const change = changeOf();
    const now = new Date();
    await sendCodehost(daemon, 'pull_request', pullRequestPayload(change, 'synchronize', now, 'li'));
    const times: number[] = [];
    for (let event = 0; event < events; event += 1) {
      const fails = event % 2 === 0;
      const suite = { id: 9_000, app: 'build', conclusion: fails ? 'failure' : 'success' };
      const shown = page.evaluate<number>(`window.shown(${JSON.stringify(fails ? '1 failed' : '1 green')})`);
      // The code host tells whole seconds, and what is not newer than what is known is not news.
      const at = new Date(now.getTime() + (event + 1) * 1_000);
      await sendCodehost(daemon, 'check_suite', checkSuitePayload(change, suite, at));
      const answered = performance.timeOrigin + performance.now();
      times.push(Math.max(0, (await within(shown, 10_000)) - answered));
      await sleep(20 + random.below(120));
    }
    return figuresOf(times);
  } finally {
    await close();
  }
}

function changeOf(): Change {
  const { ticket, title, repo, pr, person } = plannedTicket(TICKET);
  return {
    repo,
    number: pr,
    title: `${ticket}: ${title}`,
    branch: branchNamed(ticket, title),
    author: person,
    labels: [],
    openedAt: () => new Date(Date.now() - 3_600_000),
    headSha: 'be'.repeat(20),
    draft: false,
    mergeableState: 'unknown',
    merge: null,
    closedAt: null,
  };
}

async function within<T>(promise: Promise<T>, patienceMs: number): Promise<T> {
  const late = sleep(patienceMs).then((): never => {
    throw new Error(`the page does not show it after ${patienceMs} ms`);
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
