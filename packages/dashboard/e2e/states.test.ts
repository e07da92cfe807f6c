// The screens without data: at the first start, while loading, while the daemon is stopped, and at an unknown URL.
import { describe, expect, it } from 'vitest';
import { sendCodehost, sendTracker } from '../../testkit/src/tape/send.ts';
import { axeFindings } from './axe.ts';
import { sizes, type WatchedPage } from './chromium.ts';
import { goTo, overflow, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const board = screens.find(({ name }) => name === 'board') ?? unknown();

function unknown(): never {
  throw new Error('there is no such screen');
}

describe('a new machine', () => {
  const tape = withTape({ past: 'nothing' });

  it('shows the first steps on the board', async () => {
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
    'has an empty state on %s',
    async (path) => {
      const { page, problems } = await tape.openAgain();
      await page.goto(tape.daemon().url + path);
      await page.waitForFunction(() => (document.querySelector('main')?.textContent ?? '').length > 20);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await problems()).toEqual([]);
    },
  );

  it('shows the first event without a reload', async () => {
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

  it('lists open tickets, and starts a run for one after a confirmation', async () => {
    const state = { id: 's', name: 'Todo', type: 'unstarted' };
    for (const [number, title] of ['Show the price', '<img src=x onerror=alert(1)> \u202ereversed'].entries())
      await sendTracker(tape.daemon(), 'Issue', {
        type: 'Issue',
        action: 'create',
        createdAt: new Date().toISOString(),
        data: { id: `i-${number}`, identifier: `OPS-${number}`, title, state, labels: [] },
      });
    // The first answer is a refusal, which the browser logs.
    const { page, problems } = await tape.open({ offline: true });
    const asked: unknown[] = [];
    const answers = [
      { status: 404, json: { error: 'No project.', code: 'unknown-project', remedy: 'Start it there.' } },
      { status: 200, json: {} },
    ];
    await page.route('**/api/runs', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      asked.push(route.request().postDataJSON());
      await route.fulfill(answers.shift() ?? { status: 500 });
    });
    await page.goto(`${tape.daemon().url}/runs`);
    await page.getByText('Open tickets without a run (2)').waitFor();
    for (const size of [sizes.narrow, sizes.wide]) {
      await page.setViewportSize(size);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    await page
      .getByRole('listitem')
      .filter({ hasText: 'OPS-0' })
      .getByRole('button', { name: 'Start a run' })
      .click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('Show the price').waitFor();
    expect(asked).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the run' }).click();
    await dialog.getByText('No project.').waitFor();
    await dialog.getByRole('button', { name: 'Start the run' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(asked).toEqual([{ tickets: ['OPS-0'] }, { tickets: ['OPS-0'] }]);
    expect(await problems()).toEqual([]);
  });
});

describe('while loading, and while the daemon is stopped', () => {
  const tape = withTape({ past: 'end' });

  it('shows a placeholder, and after a while what it is waiting for', async () => {
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

  it('reports an unknown page and an unknown ticket', async () => {
    const { page } = await tape.open({ offline: true });
    await page.goto(`${tape.daemon().url}/nowhere/at/all`);
    await page.getByText('Page not found.').waitFor();
    await page.goto(`${tape.daemon().url}/tickets/TID-9999`);
    await page
      .locator('main')
      .getByText(/TID-9999/)
      .first()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('keeps the last data while the daemon is stopped, and continues when it is back', async () => {
    const pages = await Promise.all(
      (['wide', 'narrow'] as const).map((size) => tape.open({ offline: true, size })),
    );
    for (const { page } of pages) await goTo(page, tape.daemon().url, board);
    await tape.daemon().kill();
    const noDaemon = ({ page }: WatchedPage) => page.getByText(/The daemon is not responding/).first();
    for (const watched of pages) {
      await noDaemon(watched).waitFor();
      await settled(watched.page);
      expect(await watched.page.locator('main').getByText(board.shows).first().isVisible()).toBe(true);
      expect(await axeFindings(watched.page)).toEqual([]);
    }
    await tape.daemon().restart();
    for (const watched of pages) {
      await noDaemon(watched).waitFor({ state: 'detached' });
      expect(await watched.page.locator('main').getByText(board.shows).first().isVisible()).toBe(true);
      expect(await watched.problems()).toEqual([]);
    }
  });
});
