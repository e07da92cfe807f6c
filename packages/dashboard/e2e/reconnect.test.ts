// The way to the daemon is cut every 3 s while events come: afterwards the page has every one of them, in order,
// and its board is the daemon's.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardView } from '@svc/core';
import { boardColumnNames, boardColumns } from '@svc/core/browser';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { liveEvents } from '../../testkit/src/tape/live-events.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { PATIENCE_MS, withTape } from './with-tape.ts';

const CUT_EVERY_MS = 3_000;
const LISTEN_MS = 20_000;

const tape = withTape({ past: 'end' });

it(
  'shows every line in order, without a hole, however often the way is cut',
  async () => {
    const daemon = tape.daemon();
    const proxy = await startCuttingProxy(daemon.port);
    onTestFinished(proxy.close);
    const { page } = await tape.open({ offline: true });
    const first = await newestSeq(daemon.url);
    await page.goto(`${proxy.url}/events`);
    await page.locator(`#line-${first}`).waitFor();
    proxy.begin(CUT_EVERY_MS);

    const live = liveEvents(daemon, { perMinute: 400 });
    await sleep(LISTEN_MS);
    await live.stop();
    expect(live.problem()).toBeUndefined();
    expect(live.sent()).toBeGreaterThan(60);
    expect(proxy.cuts()).toBeGreaterThanOrEqual(5);

    const last = await quietSeq(daemon.url);
    await page.locator(`#line-${last}`).waitFor({ timeout: 15_000 });
    const shown = await seqsShown(page, first);
    expect(shown).toEqual(Array.from({ length: last - first + 1 }, (_, index) => last - index));
  },
  PATIENCE_MS,
);

it(
  'has the board of the daemon afterwards',
  async () => {
    const daemon = tape.daemon();
    const proxy = await startCuttingProxy(daemon.port);
    onTestFinished(proxy.close);
    const { page } = await tape.open({ offline: true });
    await page.goto(proxy.url);
    await page.locator('section[aria-labelledby^=column-]').first().waitFor();
    proxy.begin(CUT_EVERY_MS);

    const live = liveEvents(daemon, { perMinute: 400, seed: 8 });
    await sleep(LISTEN_MS / 2);
    // Something that moves a card from one column to another, told while the way is cut again and again.
    await post(`${daemon.url}/api/attention/resolve`, {
      id: 'run-winter-storage/TID-124/question',
      by: 'mira',
    });
    await live.stop();
    await quietSeq(daemon.url);

    const wanted = await columnsOf(daemon.url, page);
    await expect.poll(() => columnsShown(page), { timeout: 15_000 }).toEqual(wanted);
  },
  PATIENCE_MS,
);

async function newestSeq(url: string): Promise<number> {
  const response = await fetch(`${url}/api/events?limit=1`);
  const { events } = (await response.json()) as { events: { seq: number }[] };
  return events[0]?.seq ?? 0;
}

/** Once no more lines come: signal files are told a moment after they were written. */
async function quietSeq(url: string): Promise<number> {
  let before = -1;
  for (let now = await newestSeq(url); now !== before; now = await newestSeq(url)) {
    before = now;
    await sleep(1_500);
  }
  return before;
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

/** Scrolls through the list and reads the numbers of its lines, newest first. */
async function seqsShown(page: Page, downTo: number): Promise<number[]> {
  const seen = new Map<number, number>();
  const list = page.getByRole('listbox', { name: /Event lines/ });
  await list.evaluate((element) => element.scrollTo(0, 0));
  for (let round = 0; round < 400; round += 1) {
    await page.waitForTimeout(40);
    const rows = await list.evaluate((element) =>
      [...element.querySelectorAll('[role=option]')].map((row) => ({
        seq: Number(row.id.replace('line-', '')),
        // Within the list: the trust bar above it grows and shrinks with the connection.
        top: row.getBoundingClientRect().top - element.getBoundingClientRect().top + element.scrollTop,
      })),
    );
    for (const { seq, top } of rows) seen.set(seq, top);
    if (rows.some(({ seq }) => seq <= downTo)) break;
    await list.evaluate((element) => element.scrollBy(0, element.clientHeight * 0.8));
  }
  return [...seen]
    .toSorted(([, top], [, other]) => top - other)
    .map(([seq]) => seq)
    .filter((seq) => seq >= downTo);
}

type Columns = Record<string, string[]>;

/** By the rule that the page uses too, from what the daemon has. */
async function columnsOf(url: string, page: Page): Promise<Columns> {
  const response = await fetch(`${url}/api/board?settled=36h`);
  const { workers, pullRequests, tickets, attention } = (await response.json()) as BoardView;
  const dayStart = await page.evaluate(() => new Date().setHours(0, 0, 0, 0));
  const { columns } = boardColumns({ workers, pullRequests, tickets, attention, now: Date.now(), dayStart });
  return Object.fromEntries(
    boardColumnNames.map((name) => [
      name,
      columns[name].map(({ worker, pullRequest }) => worker?.ticket ?? pullRequest?.ticket ?? '').toSorted(),
    ]),
  );
}

function columnsShown(page: Page): Promise<Columns> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('section[aria-labelledby^=column-]')].map((column) => [
        column.getAttribute('aria-labelledby')?.replace('column-', '') ?? '',
        [...column.querySelectorAll('a[href^="/tickets/"]')]
          .map((card) => card.getAttribute('href')?.split('?')[0]?.replace('/tickets/', '') ?? '')
          .toSorted(),
      ]),
    ),
  );
}
