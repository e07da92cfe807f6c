// What a screen shows when there is nothing to show yet: at the first start, while it loads, while the daemon is
// away, and at an address that does not exist.
import { describe, expect, it } from 'vitest';
import { sendCodehost } from '../../testkit/src/tape/send.ts';
import { axeFindings } from './axe.ts';
import { sizes, type WatchedPage } from './chromium.ts';
import { goTo, overflow, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const board = screens.find(({ name }) => name === 'board') ?? unknown();

function unknown(): never {
  throw new Error('there is no such screen');
}

describe('a machine on which nothing ever happened', () => {
  const tape = withTape({ past: 'nothing' });

  it('says on the board what to do first', async () => {
    const { page, problems } = await tape.open();
    await page.goto(tape.daemon().url);
    await page.getByText('Three steps to a live board').waitFor();
    for (const size of [sizes.wide, sizes.narrow]) {
      await page.setViewportSize(size);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    expect(await problems()).toEqual([]);
  });

  it.each(['/runs', '/attention', '/events', '/telemetry', '/archive', '/configuration', '/doctor'])(
    'has words for it on %s',
    async (path) => {
      const { page, problems } = await tape.open();
      await page.goto(tape.daemon().url + path);
      await page.waitForFunction(() => (document.querySelector('main')?.textContent ?? '').length > 20);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await problems()).toEqual([]);
    },
  );

  it('shows the first thing that happens without a reload', async () => {
    const { page } = await tape.open();
    await page.goto(`${tape.daemon().url}/events`);
    await page.getByText('monitor.daemon.started').first().waitFor();
    const repository = { full_name: 'tideline/web' };
    await sendCodehost(tape.daemon(), 'push', {
      ref: 'refs/heads/tid-1-first',
      after: 'a'.repeat(40),
      repository,
    });
    await expect.poll(() => page.getByText('codehost.push').count()).toBeGreaterThan(0);
  });
});

describe('while it loads, and while the daemon is away', () => {
  const tape = withTape({ past: 'end' });

  it('shows where the board will be, and after a while what it waits for', async () => {
    const { page, problems } = await tape.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/board/changes*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(tape.daemon().url);
    await page.locator('main').getByRole('status').first().waitFor({ state: 'attached' });
    await page
      .getByText(/Waiting for/)
      .first()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    held.resolve();
    await page.getByText(board.shows).first().waitFor();
    expect(await problems()).toEqual([]);
  });

  it('says that there is no such page, and no such ticket', async () => {
    const { page } = await tape.open({ offline: true });
    await page.goto(`${tape.daemon().url}/nowhere/at/all`);
    await page.getByText('There is no such page.').waitFor();
    await page.goto(`${tape.daemon().url}/tickets/TID-9999`);
    await page
      .locator('main')
      .getByText(/TID-9999/)
      .first()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('keeps the last picture while the daemon is away, and goes on when it is back', async () => {
    const pages = await Promise.all(
      (['wide', 'narrow'] as const).map((size) => tape.open({ offline: true, size })),
    );
    for (const { page } of pages) await goTo(page, tape.daemon().url, board);
    await tape.daemon().kill();
    const isAway = ({ page }: WatchedPage) => page.getByText(/The daemon does not answer/).first();
    for (const watched of pages) {
      await isAway(watched).waitFor();
      await settled(watched.page);
      expect(await watched.page.locator('main').getByText(board.shows).first().isVisible()).toBe(true);
      expect(await axeFindings(watched.page)).toEqual([]);
    }
    await tape.daemon().restart();
    for (const watched of pages) {
      await isAway(watched).waitFor({ state: 'detached' });
      expect(await watched.page.locator('main').getByText(board.shows).first().isVisible()).toBe(true);
      expect(await watched.problems()).toEqual([]);
    }
  });
});
