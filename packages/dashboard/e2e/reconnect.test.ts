// The connection to the daemon is cut again and again while events arrive: afterwards the page has every one of them,
// in order, and the same board as the daemon.
import type { Page } from 'playwright-core';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { boardColumnNames, boardColumns } from 'svc-monitor/src/features/board/board-columns.ts';
import { expect, it, onTestFinished } from 'vitest';
import { liveEvents } from '../../testkit/src/tape/live-events.ts';
import { until, untilHolds } from '../../testkit/src/waiting.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { withTape } from './with-tape.ts';

const CUTS = 6;
/** Events sent while connected, and again while cut. */
const EVENTS = 6;

const tape = withTape({ past: 'end' });

/** Runs in the page, before its own scripts: divides pauses of up to 5 s between attempts by ten. */
const shortPauses = `
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (call, ms, ...given) => original(call, ms <= 5_000 ? ms / 10 : ms, ...given);
`;

/** A page behind a proxy that can be cut. */
async function openBehindProxy(path: string): Promise<{ page: Page; proxy: CuttingProxy }> {
  const proxy = await startCuttingProxy(tape.daemon().port);
  onTestFinished(proxy.close);
  const { page } = await tape.open({ offline: true });
  await page.addInitScript(shortPauses);
  await page.goto(proxy.url + path);
  return { page, proxy };
}

/** Cuts each time the page is connected, with events before and during the cut; returns how many were sent. */
async function cutAgainAndAgain(proxy: CuttingProxy, whileCut?: () => Promise<void>): Promise<number> {
  let sent = 0;
  for (let cut = 0; cut < CUTS; cut += 1) {
    await until(proxy.carriesStream);
    const live = liveEvents(tape.daemon(), { perMinute: 1_200, seed: 7 + cut });
    await until(() => live.sent() >= EVENTS);
    proxy.cut();
    await until(() => live.sent() >= 2 * EVENTS);
    await live.stop();
    expect(live.problem()).toBeUndefined();
    sent += live.sent();
    if (cut === CUTS - 1) await whileCut?.();
    proxy.restore();
  }
  return sent;
}

it('shows every event in order and without a gap, however often the connection is cut', async () => {
  const { url } = tape.daemon();
  const first = await newestSeq(url);
  const { page, proxy } = await openBehindProxy('/events');
  await page.locator(`#line-${first}`).waitFor();
  expect(await cutAgainAndAgain(proxy)).toBeGreaterThan(60);

  await page.locator(`#line-${await newestSeq(url)}`).waitFor();
  // An event may arrive a little later: signal files are reported after they were written.
  await untilHolds(async () => {
    const last = await newestSeq(url);
    expect(await seqsShown(page, first)).toEqual(
      Array.from({ length: last - first + 1 }, (_, index) => last - index),
    );
  });
});

it('has the same board as the daemon afterwards', async () => {
  const { url } = tape.daemon();
  const { page, proxy } = await openBehindProxy('/');
  await page.locator('section[aria-labelledby^=column-]').first().waitFor();
  const before = await columnsOf(url, page);
  // Moves a card to another column while the connection is cut.
  await cutAgainAndAgain(proxy, () =>
    post(`${url}/api/attention/resolve`, { id: 'run-winter-storage/TID-124/question', by: 'mira' }),
  );
  await untilHolds(async () => {
    const wanted = await columnsOf(url, page);
    expect(wanted).not.toEqual(before);
    expect(await columnsShown(page)).toEqual(wanted);
  });
});

async function newestSeq(url: string): Promise<number> {
  const response = await fetch(`${url}/api/events?limit=1`);
  const { events } = (await response.json()) as { events: { seq: number }[] };
  return events[0]?.seq ?? 0;
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

/** Scrolls through the list and reads the seqs, newest first. */
async function seqsShown(page: Page, downTo: number): Promise<number[]> {
  const list = page.getByRole('listbox', { name: 'Events, newest first' });
  const seen = await list.evaluate(async (element, lowest) => {
    const positions: Record<number, number> = {};
    for (element.scrollTo(0, 0); ; element.scrollBy(0, element.clientHeight * 0.8)) {
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      const top = element.getBoundingClientRect().top - element.scrollTop;
      for (const row of element.querySelectorAll('[role=option]'))
        positions[Number(row.id.replace('line-', ''))] = row.getBoundingClientRect().top - top;
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
      if (isAtEnd || Object.keys(positions).some((seq) => Number(seq) <= lowest)) return positions;
    }
  }, downTo);
  return Object.entries(seen)
    .toSorted(([, top], [, other]) => top - other)
    .map(([seq]) => Number(seq))
    .filter((seq) => seq >= downTo);
}

type Columns = Record<string, string[]>;

/** The daemon's board, by the same rule as the page. */
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
