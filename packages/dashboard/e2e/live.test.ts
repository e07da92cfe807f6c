// The screens with data: live updates, past times, and links.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { AttentionView } from 'svc-monitor/src/features/attention/api.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { boardColumns } from 'svc-monitor/src/features/board/board-columns.ts';
import type { DoctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { doctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { describe, expect, it } from 'vitest';
import { appendOutput, changeSignal } from '../../demo/src/worker-files.ts';
import { sendCodehost } from '../../testkit/src/tape/send.ts';
import { tokens } from '../../testkit/src/tape/world.ts';
import { sizes } from './chromium.ts';
import { overflow, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });

const column = (page: Page, name: string) => page.locator(`section[aria-labelledby=column-${name}]`);
const card = (page: Page, ticket: string) => page.locator(`main a[href^="/tickets/${ticket}"]`).first();

/** Runs in the page, before its own scripts: no timers, so nothing is polled. */
const withoutPolling = 'globalThis.setInterval = () => 0;';

/** Runs in the page, before its own scripts: keeps the times that are rendered. Without timers no age changes by itself. */
const keepRendered = `
  window.rendered = new Set();
  const { toISOString } = Date.prototype;
  Date.prototype.toISOString = function () {
    const text = toISOString.call(this);
    window.rendered.add(text);
    return text;
  };
`;

async function openAt(path: string, before = ''): Promise<Page> {
  const { page } = await tape.open();
  await page.addInitScript(before);
  await page.goto(tape.daemon().url + path);
  return page;
}

describe('the board', () => {
  it('has each card in the right column', async () => {
    const page = await openAt('/');
    await card(page, 'TID-104').waitFor();
    for (const [name, tickets] of [
      ['working', ['TID-121', 'TID-122', 'TID-123']],
      ['needs-you', ['TID-106', 'TID-130', 'TID-131']],
      ['in-review', ['TID-126', 'TID-128']],
      ['shipping', ['TID-104', 'TID-108']],
      ['done-today', ['TID-107', 'TID-111', 'TID-112']],
    ] as const)
      for (const ticket of tickets)
        expect(
          await column(page, name).locator(`a[href^="/tickets/${ticket}"]`).count(),
          `${ticket} in ${name}`,
        ).toBe(1);
  });

  it.each([1440, 1024, 390])('has its columns in the same order, %i pixels wide', async (width) => {
    const page = await openAt('/');
    await page.setViewportSize({ width, height: 900 });
    await card(page, 'TID-104').waitFor();
    const places = await page.locator('section[aria-labelledby^=column-]').evaluateAll((found) =>
      found.map((section) => {
        const { left, top } = section.getBoundingClientRect();
        return { name: section.getAttribute('aria-labelledby'), left, top };
      }),
    );
    const names = places.toSorted((one, other) => one.top - other.top || one.left - other.left);
    expect(names.map(({ name }) => name)).toEqual(
      ['needs-you', 'working', 'in-review', 'shipping', 'done-today'].map((name) => `column-${name}`),
    );
  });

  it('answers the permission request of a session that a person started', async () => {
    const { url, home } = tape.daemon();
    writeFileSync(join(home, 'data/hook-token'), 'token', { mode: 0o600 });
    const headers = { 'Content-Type': 'application/json', 'X-Svc-Hook-Token': 'token' };
    const hook = async (path: string, body: object): Promise<unknown> =>
      (
        await fetch(`${url}/api/hooks/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      ).json();
    const of = { agent: 'claude', session: 's-1', tool: 'Bash', call: 'x' };
    const page = await openAt('/');
    await hook('report', { ...of, event: 'PermissionRequest', folder: '/home/ann/boats', at: 1 });
    const answered = hook('ask', { ...of, input: '{"command":"touch <b>boat</b>"}' });
    const request = page.getByRole('region', { name: 'Open requests' });
    await request.getByText('$ touch <b>boat</b>').waitFor();
    await request.getByRole('button', { name: 'Allow' }).click();
    expect(await answered).toEqual({ answer: 'allow_once' });
    await request.waitFor({ state: 'detached' });
  });

  it('moves a card when a delivery arrives, and renders no card of another column again', async () => {
    // Without the poll every 15 s: the delivery alone moves the card.
    const page = await openAt('/', withoutPolling + keepRendered);
    await column(page, 'shipping').locator('a[href^="/tickets/TID-104"]').waitFor();
    await settled(page);
    const times = column(page, 'working').locator('a time');
    const ages = await times.evaluateAll((found) => found.map((time) => time.getAttribute('datetime')));
    expect(ages.length).toBeGreaterThan(3);
    expect(await page.evaluate<string[]>('[...window.rendered]')).toEqual(expect.arrayContaining(ages));
    await page.evaluate('window.rendered.clear()');
    const daemon = tape.daemon();
    const board = (await (await fetch(`${daemon.url}/api/board`)).json()) as BoardView;
    const running = board.deployments.find(({ state }) => state === 'in_progress');
    expect(running).toBeDefined();
    const repository = { full_name: running?.repo };
    const environment = running?.environment;
    const deployment = { id: running?.id, sha: running?.sha, ref: 'main', environment };
    await sendCodehost(daemon, 'deployment_status', {
      action: 'created',
      deployment,
      deployment_status: { id: 9, state: 'success', environment, created_at: new Date().toISOString() },
      repository,
    });
    await column(page, 'done-today').locator('a[href^="/tickets/TID-104"]').waitFor();
    expect(await column(page, 'shipping').locator('a[href^="/tickets/TID-104"]').count()).toBe(0);
    const again = await page.evaluate<string[]>('[...window.rendered]');
    expect(again.length).toBeGreaterThan(0);
    expect(again.filter((time) => ages.includes(time))).toEqual([]);
  });

  it('is filtered by the URL, and a link shows the same', async () => {
    const page = await openAt('/?run=run-guest-berths');
    await card(page, 'TID-106').waitFor();
    expect(await card(page, 'TID-121').count()).toBe(0);
    await page.goto(`${tape.daemon().url}/?q=crane`);
    await card(page, 'TID-126').waitFor();
    expect(await card(page, 'TID-106').count()).toBe(0);
    // Selects do not look as the browser has them, and the field has its own button.
    const search = page.getByLabel('Search the board');
    const looks = await page
      .locator('select')
      .evaluateAll((found) => found.map((select) => getComputedStyle(select).appearance));
    expect(looks.length).toBeGreaterThan(0);
    expect(looks.filter((look) => look !== 'none')).toEqual([]);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await card(page, 'TID-106').waitFor();
    expect(await search.inputValue()).toBe('');
    expect(new URL(page.url()).search).toBe('');
  });

  it('shows a past time, labels it, and links back to live', async () => {
    const page = await openAt('/?at=400');
    await page
      .getByText(/Viewing history: /)
      .first()
      .waitFor();
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    expect(await card(page, 'TID-135').count()).toBe(0);
    const numberOf = async (query: string) => {
      const answer = await fetch(`${tape.daemon().url}/api/board${query}`);
      return ((await answer.json()) as { needsYou: number }).needsYou;
    };
    const [past, live] = [await numberOf('?at=400'), await numberOf('')];
    expect(past).toBeGreaterThan(0);
    expect(past).toBeLessThan(live);
    const bar = page.getByRole('region', { name: 'Data status' });
    await bar.getByText('This board is not live').waitFor();
    expect(await bar.getByText(/^Live/).count()).toBe(0);
    const badge = page
      .getByRole('navigation')
      .getByRole('link', { name: /^Attention/ })
      .first();
    await expect.poll(() => badge.innerText()).toMatch(new RegExp(`\\b${past}\\b`));
    await expect.poll(() => page.title()).toContain(`(${past})`);
    await page.getByRole('link', { name: 'Back to live' }).click();
    await card(page, 'TID-135').waitFor();
    await bar.getByText(/^Live/).waitFor();
    await expect.poll(() => badge.innerText()).toMatch(new RegExp(`\\b${live}\\b`));
    expect(new URL(page.url()).searchParams.has('at')).toBe(false);
  });

  it('labels a past time also while something is wrong, whose reason fits a phone', async () => {
    const page = await openAt('/');
    const why = `/${'folder_'.repeat(40)}runs does not answer.`;
    await page.route('**/api/health', async (route) => {
      const answer = await route.fetch();
      const health = (await answer.json()) as { findings: DoctorFinding[] };
      const broken = doctorFinding('runs', 'broken', why, { remedy: `Look at ${why}` });
      await route.fulfill({ json: { ...health, findings: [broken, ...health.findings] } });
    });
    await page.setViewportSize(sizes.narrow);
    await page.goto(new URL('/?at=400', page.url()).href);
    const bar = page.getByRole('region', { name: 'Data status' });
    await bar.getByText(/^This board is not live\. /).waitFor();
    await bar.getByText(why, { exact: true }).waitFor();
    // What is well is on Doctor.
    expect(await bar.getByText('the board is up to date').count()).toBe(0);
    await bar.getByRole('link', { name: /^All \d+ checks$/ }).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  it('has its time bar behind History', async () => {
    const page = await openAt('/');
    await card(page, 'TID-135').waitFor();
    expect(await page.getByRole('slider').count()).toBe(0);
    const button = page.getByRole('button', { name: 'History' });
    await button.click();
    await page.getByRole('slider').waitFor();
    await button.click();
    await page.getByRole('slider').waitFor({ state: 'detached' });
  });

  it('shows no live data while it loads a past time', async () => {
    const page = await openAt('/');
    await card(page, 'TID-135').waitFor();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/board?at=400*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${tape.daemon().url}/?at=400`);
    await page.getByText('Viewing history', { exact: true }).waitFor();
    expect(await page.locator('main a[href^="/tickets/"]').count()).toBe(0);
    held.resolve();
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    expect(await card(page, 'TID-135').count()).toBe(0);
  });
});

describe('a ticket', () => {
  it.each([
    ['TID-101', 'observed'],
    ['TID-102', 'fetched'],
    ['TID-103', 'claimed'],
  ])('has a receipt for %s with a link that was %s', async (ticket, grade) => {
    const page = await openAt(`/tickets/${ticket}`);
    const links = page.getByRole('list', { name: 'Links of the receipt' });
    await links.getByText(grade).first().waitFor();
    expect(await links.getByRole('listitem').count()).toBeGreaterThanOrEqual(4);
  });

  it('links to its own attention item', async () => {
    const { open } = (await (await fetch(`${tape.daemon().url}/api/attention`)).json()) as AttentionView;
    const item = open.findLast(({ ticket }) => ticket !== null);
    expect(item?.id).not.toBe(open[0]?.id);
    const page = await openAt(`/tickets/${item?.ticket}?run=${item?.orchestrator}`);
    await page
      .locator(`a[href="/attention?id=${encodeURIComponent(item?.id ?? '')}"]`)
      .first()
      .click();
    await page.locator(`[data-item="${item?.id}"][aria-current]`).waitFor();
  });

  it('explains its state, shows its trace, and links to the event behind a fact', async () => {
    const page = await openAt('/tickets/TID-106');
    await page
      .getByText(/a person has to decide/)
      .first()
      .waitFor();
    await page.getByText('Trace').first().waitFor();
    const line = page.locator('main a[href*="/events?"]').first();
    await line.waitFor();
    const seq = new URL((await line.getAttribute('href')) ?? '', tape.daemon().url).searchParams.get('seq');
    await line.click();
    await page.locator(`#line-${seq}, :text("Event ${seq}")`).first().waitFor();
    expect(new URL(page.url()).searchParams.get('seq')).toBe(seq);
  });

  it('shows new worker output at once', async () => {
    const page = await openAt('/tickets/TID-121');
    await page.getByText('Agent output').first().waitFor();
    const message = {
      id: 'message-new',
      role: 'assistant',
      content: [{ type: 'text', text: 'The mast is measured now.' }],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    appendOutput(tape.daemon(), { orchestrator: 'run-winter-storage', ticket: 'TID-121' }, [
      { type: 'assistant', session_id: 'session-tid-121', message },
    ]);
    await expect.poll(() => page.getByText('The mast is measured now.').count()).toBe(1);
  });
});

describe('a run', () => {
  it('has waves, workers, verification, and a summary on demand that shows when it is cached', async () => {
    const page = await openAt('/runs/run-guest-berths');
    const waves = page.getByRole('region', { name: 'Waves as a graph' });
    await waves.getByText('TID-109').first().waitFor();
    await page
      .getByText(/641 tests/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Write a summary' }).click();
    await page.getByText('TID-106 waits for a person').first().waitFor();
    // The same request from another page: nothing has happened in between.
    const again = await openAt('/runs/run-guest-berths');
    await again.getByRole('button', { name: 'Write a summary' }).click();
    await again.getByText('TID-106 waits for a person').first().waitFor();
    await expect.poll(() => again.getByText(/cached, written/).count()).toBe(1);
  });
});

describe('the log', () => {
  it('has a chart in which the highest bar takes the height', async () => {
    const page = await openAt('/events');
    const canvas = page.locator('main figure canvas').first();
    await canvas.waitFor();
    await settled(page);
    expect((await canvas.boundingBox())?.height).toBe(160);
    // Above the highest bar are 8 pixels of padding and a twentieth of the scale.
    const highest = async (): Promise<number> =>
      canvas.evaluate((drawn: HTMLCanvasElement) => {
        const { width, height } = drawn;
        const { data } = drawn.getContext('2d')?.getImageData(0, 0, width, height) ?? { data: [] };
        const style = getComputedStyle(document.documentElement);
        const colours = [1, 2, 3, 4, 5, 6, 7, 8].map((number) =>
          style.getPropertyValue(`--series-${number}`).trim(),
        );
        const hex = (at: number): string =>
          `#${[0, 1, 2].map((part) => (data[at + part] ?? 0).toString(16).padStart(2, '0')).join('')}`;
        for (let at = 0; at < width * height; at += 1)
          if (colours.includes(hex(at * 4))) return Math.floor(at / width);
        return height;
      });
    await expect.poll(highest).toBeLessThan(20);
  });

  it('is filtered by topic, ticket and jq, and shows the matching command', async () => {
    const page = await openAt('/events?event=codehost.pr.*&ticket=TID-128');
    await page.getByText('codehost.pr.opened').first().waitFor();
    expect(await page.getByText('orchestrator.worker').count()).toBe(0);
    await page
      .getByText(/svc events wait-for .*TID-128/)
      .first()
      .waitFor();
    await page.goto(`${tape.daemon().url}/events?filter=${encodeURIComponent('.via == "poll"')}`);
    await page
      .getByText(/TID-102/)
      .first()
      .waitFor();
    await page.goto(`${tape.daemon().url}/events?filter=${encodeURIComponent('.via ==')}`);
    await page.getByRole('alert').first().waitFor();
  });
});

describe('the configuration', () => {
  it('shows what is set, and explains a key with the command that changes it', async () => {
    const page = await openAt('/configuration');
    await page.getByText('svc.project.ticketPrefix').first().waitFor();
    expect(await page.getByText('svc.orchestration.maxParallel', { exact: true }).count()).toBe(0);
    const key = page.getByRole('button', { name: 'svc.project.ticketPrefix' });
    await key.click();
    await page.getByText('svc config set svc.project.ticketPrefix <value>').waitFor();
    const lookedAt = page.getByRole('list', { name: /Looked at/ });
    await expect.poll(() => lookedAt.textContent()).toMatch(/config\.json:\d+: TID/);
  });

  it('shows no secret', async () => {
    const page = await openAt('/configuration');
    await page.getByText('svc.tracker.apiToken').first().waitFor();
    const whole = await page.content();
    for (const secret of Object.values(tokens)) expect(whole).not.toContain(secret);
    expect(whole).toContain('********');
  });
});

describe('what needs you', () => {
  it('is one number: in the API, the badge, the title, the column, the tab and on the command line', async () => {
    const { url, svc } = tape.daemon();
    const board = async () =>
      (await (await fetch(`${url}/api/board`)).json()) as BoardView & { needsYou: number };
    const raise = async (reason: string, ...about: string[]): Promise<void> => {
      const detail = JSON.stringify({ reason, message: 'Which harbour?', severity: 'medium' });
      const answer = await svc(
        'events',
        'append',
        '--event',
        'comms.attention',
        '--detail',
        detail,
        ...about,
      );
      expect(answer).toMatchObject({ code: 0 });
    };
    const before = await board();
    const { columns } = boardColumns({ ...before, now: Date.now(), dayStart: 0 });
    const alone = columns['needs-you'].filter(({ attention }) => attention.length === 1);
    const [one, other] = alone.flatMap(({ worker }) => worker ?? []);
    const item = before.attention.find(({ ticket }) => ticket === other?.ticket);
    // A second item of a card, one that somebody has, one of a ticket without a card, and a failure without an item.
    await raise('question', '--ticket', one?.ticket ?? '', '--orchestrator', one?.orchestrator ?? '');
    await raise('question', '--ticket', 'TID-999');
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ id: item?.id, by: 'kim' });
    expect((await fetch(`${url}/api/attention/ack`, { method: 'POST', headers, body })).status).toBe(200);
    changeSignal(
      tape.daemon(),
      { orchestrator: 'run-winter-storage', ticket: 'TID-122' },
      { status: 'failed' },
    );
    await expect.poll(async () => (await board()).needsYou).toBe(before.needsYou + 2);

    const count = before.needsYou + 2;
    const page = await openAt('/');
    const badge = page
      .getByRole('navigation')
      .getByText(/ waiting for you/)
      .locator('..');
    const ofColumn = page.locator('#column-needs-you + span');
    await expect.poll(() => ofColumn.innerText()).toBe(String(count));
    await page.getByRole('link', { name: /without a card/ }).click();
    const tab = page.getByRole('tab', { name: /^Waiting for you/ });
    await expect.poll(() => tab.innerText()).toMatch(new RegExp(`\\D${count}$`));
    await expect.poll(() => badge.innerText()).toMatch(new RegExp(`^${count}\\D`));
    await expect.poll(() => page.title()).toContain(`(${count})`);
    const list = page.getByRole('tabpanel').locator('ul').first();
    expect(await list.locator('> li').count()).toBe(count);
    await expect.poll(() => list.innerText()).toMatch(new RegExp(`${other?.ticket}[^]*acknowledged by kim`));
    await list.getByRole('link', { name: /^TID-122 Agent failed/ }).waitFor();
    expect((await svc('board')).printed).toContain(`${count} need you`);
  });
});

describe('the costs', () => {
  it('are the same by run, by agent and per ticket, also of a run that settled long ago', async () => {
    const { url } = tape.daemon();
    const whole = (await (await fetch(`${url}/api/board?all=1`)).json()) as BoardView;
    const [model] = whole.workers.filter(({ cost }) => cost !== null && cost.usd !== null);
    if (model === undefined) throw new Error('no worker has a cost');
    const cost = { ...model.cost, usd: 500 };
    const old = { ...model, key: 'run-old/TID-7', orchestrator: 'run-old', ticket: 'TID-7', cost };
    const page = await openAt('/');
    await page.route('**/api/board?all=1*', (route) =>
      route.fulfill({ json: { ...whole, workers: [...whole.workers, old] } }),
    );
    await page.goto(`${url}/telemetry`);
    await page.getByRole('link', { name: 'run-old' }).waitFor();
    const dollars = (texts: string[]) =>
      texts.reduce((sum, text) => sum + Number(/\$([\d.]+)/.exec(text.replaceAll(',', ''))?.[1] ?? 0), 0);
    const cells = (name: string, cell: number) =>
      page.locator(`section[aria-label="${name}"] tbody tr > :nth-child(${cell})`).allInnerTexts();
    const byRun = dollars(await cells('Cost and tokens by run', 3));
    const byAgent = dollars(await cells('Cost by agent', 2));
    const perTicket = dollars(
      await page
        .locator('dt', { hasText: /^Per ticket$/ })
        .locator('+ dd')
        .allInnerTexts(),
    );
    const tickets =
      whole.workers.filter((worker) => worker.cost !== null && worker.cost.usd !== null).length + 1;
    expect(byRun).toBeGreaterThan(500);
    expect(byAgent).toBeCloseTo(byRun, 0);
    expect(perTicket * tickets).toBeGreaterThan(byRun - 0.01 * tickets);
    expect(perTicket * tickets).toBeLessThan(byRun + 0.01 * tickets);
  });
});
