// The screens without data: at the first start, while loading, while the daemon is stopped, and at an unknown URL.
import type { Page } from 'playwright-core';
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
    await page.getByText('Start your first agent').waitFor();
    for (const size of [sizes.wide, sizes.narrow]) {
      await page.setViewportSize(size);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    expect(await problems()).toEqual([]);
  });

  it('says that there is no project when a task is to be started, and starts nothing', async () => {
    const { page, problems } = await tape.open();
    await page.route('**/api/projects', (route) => route.fulfill({ json: { projects: [] } }));
    await page.goto(tape.daemon().url);
    await page.getByRole('button', { name: 'New task' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('svc has no project on this machine yet').waitFor();
    await dialog.getByText('svc init', { exact: true }).waitFor();
    await dialog.getByLabel('What should be done?').fill('Make the login test pass');
    expect(await dialog.getByText('Ready').count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it('says that it is checking until it has checked', async () => {
    const { page, problems } = await tape.open();
    const checks = await withPreflight(page);
    checks.ready = true;
    const held = Promise.withResolvers<void>();
    await page.route('**/api/agents*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(tape.daemon().url);
    await page.getByRole('button', { name: 'New task' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Checking the agent').waitFor();
    expect(await dialog.getByText('Ready').count()).toBe(0);
    expect(checks.asked).toEqual([]);
    held.resolve();
    await dialog.getByText('Ready: nothing is missing.').waitFor();
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

  it('says why the costs cannot be shown, and tries again', async () => {
    // The refusal is what the browser logs.
    const { page, problems } = await tape.open({ offline: true });
    let isRefused = true;
    await page.route('**/api/board?all=1', (route) =>
      isRefused
        ? route.fulfill({
            status: 503,
            json: { error: 'The log is still being read.', code: 'state-not-ready', remedy: 'Try again.' },
          })
        : route.continue(),
    );
    await page.goto(`${tape.daemon().url}/telemetry`);
    await page.getByText('The log is still being read.').waitFor();
    expect(await page.getByText('Loading the costs').count()).toBe(0);
    isRefused = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Cost today').waitFor();
    expect(await problems()).toEqual([]);
  });

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
    const checks = await withPreflight(page);
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
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Show the price').waitFor();
    await dialog.getByText('One thing is missing:').waitFor();
    await dialog.getByText('The agent mine needs a login.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
    checks.ready = true;
    await dialog.getByRole('button', { name: 'Check again' }).click();
    await dialog.getByText('Ready: nothing is missing.').waitFor();
    expect(asked).toEqual([]);
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByText('No project.').waitFor();
    await dialog.getByLabel('Permission mode').selectOption('ask');
    await dialog.getByText('Ready: nothing is missing.').waitFor();
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(asked).toEqual([{ tickets: ['OPS-0'] }, { tickets: ['OPS-0'], mode: 'ask' }]);
    expect(await problems()).toEqual([]);
  });

  it('shows the description of a ticket that no agent works on, as data, and starts it', async () => {
    const state = { id: 's', name: 'Todo', type: 'unstarted' };
    await sendTracker(tape.daemon(), 'Issue', {
      type: 'Issue',
      action: 'create',
      createdAt: new Date().toISOString(),
      data: { id: 'i-7', identifier: 'OPS-7', title: 'Show the tax', state, labels: [] },
    });
    const { page, problems } = await tape.open();
    const content = {
      ticket: 'OPS-7',
      title: 'Show the tax',
      url: 'https://tracker.example/OPS-7',
      state: 'Todo',
      author: 'kim',
      body: 'On every page:\n\n- with **tax**\n- without <img src=x onerror=alert(1)>',
      criteria: [],
      labels: ['shop'],
      links: [],
      comments: [],
      commentCount: 0,
      leftOut: [],
    };
    await page.route('**/api/tickets/OPS-7', (route) => route.fulfill({ json: content }));
    await withPreflight(page);
    await page.goto(`${tape.daemon().url}/tickets/OPS-7`);
    await page.getByRole('listitem').getByText('with tax').waitFor();
    await page.getByText('without <img src=x onerror=alert(1)>').waitFor();
    await page.getByText('By kim. Labels: shop.').waitFor();
    const head = page.locator('main header').first();
    await head.getByText('Tracker state').waitFor();
    expect(await head.textContent()).not.toMatch(/Repository|unknown/);
    for (const size of [sizes.narrow, sizes.wide]) {
      await page.setViewportSize(size);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('dialog').getByText('Start OPS-7').waitFor();
    expect(await problems()).toEqual([]);
  });
});

describe('a repository with merged pull requests, and no agent yet', () => {
  const tape = withTape({ past: 'nothing' });

  it('shows the first steps, and the open tickets with Start, instead of empty columns', async () => {
    const repository = { full_name: 'tideline/web' };
    await sendCodehost(tape.daemon(), 'pull_request', {
      action: 'closed',
      number: 7,
      pull_request: {
        number: 7,
        title: 'An older change',
        state: 'closed',
        merged: true,
        merged_at: new Date().toISOString(),
        merge_commit_sha: 'b'.repeat(40),
        head: { ref: 'older', sha: 'a'.repeat(40) },
        base: { ref: 'main' },
      },
      repository,
    });
    await sendTracker(tape.daemon(), 'Issue', {
      type: 'Issue',
      action: 'create',
      createdAt: new Date().toISOString(),
      data: {
        id: 'i-1',
        identifier: 'OPS-1',
        title: 'Show the price',
        state: { id: 's', name: 'Todo', type: 'unstarted' },
        labels: [],
      },
    });
    const seen = async () => {
      const answer = await fetch(`${tape.daemon().url}/api/board?all=1`);
      const { pullRequests } = (await answer.json()) as { pullRequests: { state: string }[] };
      return pullRequests.map(({ state }) => state);
    };
    await expect.poll(seen).toEqual(['merged']);
    const { page, problems } = await tape.open();
    await page.goto(tape.daemon().url);
    const first = page.getByRole('region', { name: 'Start your first agent' });
    await first.getByText('Show the price').waitFor();
    await first.getByRole('button', { name: /^Start/ }).waitFor();
    expect(await problems()).toEqual([]);
  });
});

describe('a second repository, after agents worked in the first', () => {
  const tape = withTape({ past: 'end' });

  it('shows its first steps and its open tickets with Start', async () => {
    for (const ticket of ['OPS-1', 'TID-900'])
      await sendTracker(tape.daemon(), 'Issue', {
        type: 'Issue',
        action: 'create',
        createdAt: new Date().toISOString(),
        data: {
          id: `i-${ticket}`,
          identifier: ticket,
          title: `Show the price (${ticket})`,
          state: { id: 's', name: 'Todo', type: 'unstarted' },
          labels: [],
        },
      });
    const { page, problems } = await tape.open();
    await page.goto(tape.daemon().url);
    await page.getByText(board.shows).first().waitFor();
    await settled(page);
    const first = page.getByRole('region', { name: /^Start your first agent/ });
    expect(await first.count()).toBe(0);

    const answer = await fetch(`${tape.daemon().url}/api/projects`);
    const { projects } = (await answer.json()) as { projects: object[] };
    const second = { id: 'ops', key: 'ops', name: 'Ops', folder: '/home/kim/ops', repo: 'acme/ops' };
    const json = { projects: [...projects, { ...second, ticketPrefix: 'OPS' }] };
    await page.route('**/api/projects', (route) => route.fulfill({ json }));
    await page.route('**/api/agents?project=*', (route) => route.fulfill({ json: { agents: [] } }));
    await page.reload();
    await page.getByText(board.shows).first().waitFor();
    await first.getByText('Start your first agent in Ops').waitFor();
    await first.getByText('Show the price (OPS-1)').waitFor();
    await first.getByRole('button', { name: /^Start/ }).waitFor();
    expect(await first.getByText('TID-900').count()).toBe(0);
    await first.getByRole('button', { name: 'Hide' }).click();
    await first.waitFor({ state: 'detached' });
    expect(await problems()).toEqual([]);
  });
});

/** What the checks before a start answer: first an agent that is not logged in. */
async function withPreflight(page: Page) {
  const answer = { ready: false, asked: [] as unknown[] };
  const missing = [{ problem: 'The agent mine needs a login.', remedy: 'Run: mine login' }];
  const agent = { name: 'mine', modes: ['ask', 'auto'], models: ['small', 'large'], mode: 'ask' };
  await page.route('**/api/runs/preflight', async (route) => {
    answer.asked.push(route.request().postDataJSON());
    const { ready } = answer;
    const json = {
      ready,
      missing: ready ? [] : missing,
      notes: [],
      agents: [agent],
      tracker: 'GitHub (acme/web)',
    };
    await route.fulfill({ json });
  });
  return answer;
}

describe('a new task', () => {
  const tape = withTape({ past: 'end' });

  it('starts with n, and is sent with the choice of agent, place, model and mode', async () => {
    const { page, problems } = await tape.open();
    const checks = await withPreflight(page);
    const project = {
      id: 'web',
      key: 'web',
      name: 'Web',
      folder: '/home/kim/web',
      repo: 'acme/web',
      ticketPrefix: 'GH',
    };
    const projects = [
      project,
      { ...project, id: 'api', name: 'Api', folder: '/home/kim/api', repo: 'acme/api' },
    ];
    await page.route('**/api/projects', (route) => route.fulfill({ json: { projects } }));
    const codex = { name: 'codex', program: '/usr/bin/codex-acp', default: false, problem: null };
    const claude = { name: 'claude', program: null, default: true, problem: 'It is not installed.' };
    await page.route('**/api/agents*', (route) => route.fulfill({ json: { agents: [claude, codex] } }));
    const sent: Record<string, unknown>[] = [];
    await page.route('**/api/tasks', async (route) => {
      sent.push(route.request().postDataJSON() as Record<string, unknown>);
      await route.fulfill({ json: { ticket: 'T-1' } });
    });
    await page.goto(tape.daemon().url);
    await page.getByRole('button', { name: 'New task' }).waitFor();
    await settled(page);
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The agent mine needs a login.').waitFor();
    // The configured agent is not installed, so the one that the first board names is chosen.
    expect(checks.asked).toEqual([{ project: '/home/kim/web', task: 'tracker', agent: 'codex' }]);
    const text = '--help\n`id` <b>bold</b>';
    await dialog.getByLabel('What should be done?').fill(text);
    const start = dialog.getByRole('button', { name: 'Start', exact: true });
    expect(await start.isDisabled()).toBe(true);
    checks.ready = true;
    await dialog.getByLabel('Repository').selectOption('/home/kim/api');
    await dialog.getByLabel('Ticket').selectOption('local');
    await dialog.getByLabel('Agent').selectOption('codex');
    await dialog.getByLabel('Model').selectOption('large');
    await dialog.getByLabel('Permission mode').selectOption('auto');
    await dialog.getByText('Ready: nothing is missing.').waitFor();
    for (const size of [sizes.narrow, sizes.wide]) {
      await page.setViewportSize(size);
      expect(await axeFindings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
    await start.click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/tickets/T-1');
    const choice = { agent: 'codex', model: 'large', mode: 'auto' };
    expect(checks.asked.at(-1)).toEqual({ project: '/home/kim/api', task: 'local', ...choice });
    expect(sent).toEqual([
      {
        project: '/home/kim/api',
        text,
        local: true,
        key: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ...choice,
      },
    ]);
    // The ticket of the answer is not on this board.
    expect((await problems()).filter((one) => !one.includes('T-1') && !one.includes('404'))).toEqual([]);
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
