// An agent that waits is answered where it is shown: beside its attention item and below its card, and in a
// notice on every other screen, by mouse and by keys.
import type { Locator, Page } from 'playwright-core';
import type { AgentRequest, WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AgentWorld,
  agentOf,
  conversation,
  type NewItem,
  permission,
  question,
  startAgentWorld,
  toolOf,
} from './agent-world.ts';
import { axeFindings } from './axe.ts';
import { sizes, type WatchedPage } from './chromium.ts';
import { overflow, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });
const of = { ticket: 'TID-121', orchestrator: 'run-winter-storage' };
const asking = agentOf({ state: 'needs-permission', open: [permission] });
const stopped = agentOf({ state: 'idle', doing: null, message: 'Which berths count as winter places?' });
const item = (reason: string) => `${of.orchestrator}/${of.ticket}/${reason}`;

type Shown = WatchedPage & { world: AgentWorld };

async function open(
  path: string,
  agent: WorkerAgent,
  items: readonly NewItem[] = conversation,
  others: readonly { ticket: string; agent: WorkerAgent }[] = [],
  before: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Shown> {
  const world = await startAgentWorld({ daemonPort: tape.daemon().port, ...of, agent, items, others });
  onTestFinished(world.close);
  const watched = await tape.open({ offline: true });
  await before(watched.page);
  await watched.page.goto(world.url + path);
  return { ...watched, world };
}

const attention = (reason = 'agent-needs-permission') => `/attention?id=${encodeURIComponent(item(reason))}`;
const selected = (page: Page) => page.getByRole('region', { name: 'Selected item' });
const card = (page: Page) => page.locator(`[data-card="${of.orchestrator}/${of.ticket}"]`);
const focusCard = (page: Page) => card(page).getByRole('link').first().focus();
/** A key counts when the request has been on the screen for a moment. */
async function press(page: Page, key: string, isDone: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      if (!isDone()) await page.keyboard.press(key);
      return isDone();
    })
    .toBe(true);
}

const notice = (page: Page) => page.getByRole('region', { name: 'Waits for your permission' });
const keysIn = (place: Locator) => place.locator('kbd').allTextContents();
/** Its agent began to wait after the first one. */
const later = { ticket: 'TID-123', agent: asking };

const allowed = {
  path: 'answer',
  body: { request: '7', answer: 'allow_once', orchestrator: of.orchestrator },
};

it('says on the card what a working agent does now', async () => {
  const agent = { name: 'github-copilot-cli', state: 'running', doing: 'Edit src/berths/places.ts' } as const;
  const { page } = await open('/', agentOf(agent));
  const doing = card(page).getByText('Edit src/berths/places.ts');
  await expect.poll(() => doing.isVisible()).toBe(true);
  const isWhole = (name: Element): boolean => name.scrollWidth <= name.clientWidth;
  expect(await card(page).getByText(agent.name).evaluate(isWhole)).toBe(true);
});

it('leaves out on the card a cost that is not known', async () => {
  const withoutCost = (page: Page) =>
    page.route('**/api/board/changes*', async (route) => {
      const response = await route.fetch();
      const board = (await response.json()) as { workers: { ticket: string; cost: unknown }[] };
      const workers = board.workers.map((worker) =>
        worker.ticket === of.ticket ? { ...worker, cost: null } : worker,
      );
      await route.fulfill({ response, json: { ...board, workers } });
    });
  const { page } = await open('/', agentOf(), conversation, [], withoutCost);
  await card(page).getByText('claude').waitFor();
  await page.getByText('Cost').first().waitFor();
  expect(await card(page).textContent()).not.toMatch(/Cost|unknown/);
  // A request that waits for the next event is still open.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

describe('beside the attention item', () => {
  it('shows the whole command once, with the main action first, and allows with one click', async () => {
    const { page, world, problems } = await open(attention(), asking);
    const yes = selected(page).getByRole('button', { name: /^Yes/ });
    await yes.waitFor();
    const names = await selected(page).getByRole('button').allTextContents();
    expect(names.slice(0, 2).map((name) => name.slice(0, 3))).toEqual(['Yes', 'No,']);
    expect(names.findIndex((name) => name.startsWith('Acknowledge'))).toBeGreaterThan(2);
    expect(
      await selected(page)
        .getByText(permission.command ?? '')
        .count(),
    ).toBe(1);
    await selected(page).getByText(permission.title, { exact: true }).waitFor();
    await settled(page);
    expect(await axeFindings(page)).toEqual([]);
    await yes.click();
    await selected(page).getByText('Sent: Yes.').waitFor();
    expect(world.posts).toEqual([allowed]);
    expect(await problems()).toEqual([]);
  });

  it('allows with a and rejects with x, once each', async () => {
    const { page, world } = await open(attention(), asking);
    await selected(page).getByRole('button', { name: /^Yes/ }).waitFor();
    await press(page, 'a', () => world.posts.length > 0);
    await selected(page).getByText('Sent: Yes.').waitFor();
    await page.keyboard.press('x');
    await page.keyboard.press('a');
    expect(world.posts).toEqual([allowed]);
    const other = { ...permission, request: '8' };
    world.push([], { open: [other] });
    await page.reload();
    await selected(page).getByRole('button', { name: /^No/ }).waitFor();
    await press(page, 'x', () => world.posts.length > 1);
    expect(world.posts[1]?.body).toMatchObject({ request: '8', answer: 'reject_once' });
  });

  it('answers a question with its form', async () => {
    const { page, world } = await open(attention('agent-needs-input'), {
      ...asking,
      state: 'needs-input',
      open: [question],
    });
    await selected(page).getByLabel('Rule').selectOption('extend');
    await selected(page).getByLabel('Most days').fill('3');
    await selected(page).getByRole('button', { name: 'Send answer' }).click();
    await expect
      .poll(() => world.posts.at(-1)?.body)
      .toMatchObject({
        answer: 'accept',
        content: { rule: 'extend', days: 3 },
      });
  });

  it('shows the end of the conversation and takes a reply when the agent has stopped', async () => {
    const said: NewItem = { id: 'message:end', kind: 'message', text: stopped.message ?? '', cut: false };
    const { page, world } = await open(attention('agent-stopped'), stopped, [...conversation, said]);
    const words = selected(page).getByRole('region', { name: 'Last of the conversation' });
    await words.getByText('Which berths count').waitFor();
    expect(await selected(page).getByText('Which berths count').count()).toBe(1);
    const reply = selected(page).getByLabel('Reply to claude');
    await expect
      .poll(async () => {
        await page.keyboard.press('a');
        return page.evaluate(() => document.activeElement?.tagName);
      })
      .toBe('TEXTAREA');
    await reply.fill('All of pier 3.');
    await reply.press('Shift+Enter');
    expect(await reply.inputValue()).toBe('All of pier 3.\n');
    await reply.press('Enter');
    await selected(page).getByText('The agent gets it when it is idle.').waitFor();
    expect(world.posts).toMatchObject([{ path: 'message', body: { text: 'All of pier 3.\n' } }]);
  });

  it('does not offer to allow what cannot be shown whole', async () => {
    const cut: AgentRequest = {
      ...permission,
      cut: true,
      options: permission.options.filter(({ kind }) => kind.startsWith('reject')),
    };
    const { page, world } = await open(attention(), { ...asking, open: [cut] });
    await selected(page)
      .getByText(/cannot be allowed through svc/)
      .waitFor();
    expect(await selected(page).getByRole('button', { name: /^Yes/ }).count()).toBe(0);
    await page.keyboard.press('a');
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts.map(({ body }) => body['answer'])).toEqual(['reject_once']);
  });

  it('is readable in the dark and on a phone', async () => {
    const { page } = await open(attention(), asking);
    await selected(page).getByRole('button', { name: /^Yes/ }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await settled(page);
    expect(await axeFindings(page, 'colours')).toEqual([]);
    await page.setViewportSize(sizes.narrow);
    await page.getByRole('button', { name: /^Yes/ }).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });
});

describe('below the card', () => {
  it('allows with one click, without leaving the board, and shows the request once', async () => {
    const { page, world, problems } = await open('/', asking);
    await card(page).getByText(`$ ${permission.command}`).waitFor();
    expect(
      await card(page)
        .getByText(permission.command ?? '')
        .count(),
    ).toBe(1);
    await settled(page);
    expect(await axeFindings(page)).toEqual([]);
    await card(page).getByRole('button', { name: /^Yes/ }).click();
    await card(page).getByText('Sent: Yes.').waitFor();
    expect(world.posts).toEqual([allowed]);
    expect(new URL(page.url()).pathname).toBe('/');
    world.push([], { open: [], state: 'running' });
    expect(await problems()).toEqual([]);
  });

  it('moves nothing while the mouse is pressed: the notice goes, and keys are named, once it is released', async () => {
    const { page, world } = await open('/', asking);
    const no = card(page).getByRole('button', { name: /^No/ });
    await notice(page).waitFor();
    await no.hover();
    await page.mouse.down();
    await expect.poll(() => no.evaluate((button) => button === document.activeElement)).toBe(true);
    await settled(page);
    expect(await notice(page).count()).toBe(1);
    expect(await keysIn(card(page))).toEqual([]);
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await notice(page).waitFor({ state: 'detached' });
    expect(await keysIn(card(page))).toEqual(['a', 'x']);
    expect(world.posts).toEqual([]);
    await no.click();
    await expect.poll(() => world.posts.map(({ body }) => body['answer'])).toEqual(['reject_once']);
  });

  it('takes the keys while the card has the focus, and the notice does not', async () => {
    const { page, world } = await open('/', asking, conversation, [later]);
    const second = page.locator(`[data-card="${of.orchestrator}/${later.ticket}"]`);
    await second.getByRole('button', { name: /^Yes/ }).waitFor();
    for (let times = 0; times < 60; times += 1) {
      await page.keyboard.press('j');
      const isThere = await second.evaluate((row) => row.contains(document.activeElement));
      if (isThere) break;
    }
    expect(await keysIn(second)).toEqual(['a', 'x']);
    expect(await keysIn(notice(page))).toEqual([]);
    expect(await keysIn(card(page))).toEqual([]);
    await press(page, 'a', () => world.posts.length > 0);
    expect(world.posts).toEqual([{ ...allowed, path: `answer ${later.ticket}` }]);
  });

  it('shows the diff of an edit before it can be allowed', async () => {
    const edit: AgentRequest = {
      ...permission,
      title: 'Edit src/storage.ts',
      tool: 'edit-1',
      toolKind: 'edit',
      paths: ['src/storage.ts'],
      command: null,
    };
    const tool = toolOf('edit-1', {
      title: edit.title,
      status: 'pending',
      diffs: [{ path: 'src/storage.ts', before: 'return stay.until;\n', after: 'return endOf(stay);\n' }],
    });
    const { page, world } = await open('/', { ...asking, open: [edit] }, [...conversation, tool]);
    await card(page).getByText('return endOf(stay);').waitFor();
    await focusCard(page);
    await press(page, 'a', () => world.posts.length > 0);
    expect(world.posts).toEqual([allowed]);
  });

  it('leads to the ticket for what is too long for a card, and still takes a rejection', async () => {
    const long = { ...permission, command: `npm test\n${'echo\n'.repeat(20)}rm -r out` };
    const { page, world } = await open('/', { ...asking, open: [long] });
    await card(page)
      .getByRole('link', { name: /Too long to be shown here/ })
      .waitFor();
    expect(await card(page).getByRole('button', { name: /^Yes/ }).isDisabled()).toBe(true);
    await focusCard(page);
    await page.keyboard.press('a');
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts.map(({ body }) => body['answer'])).toEqual(['reject_once']);
  });

  it('takes a reply to an agent that has stopped', async () => {
    const { page, world } = await open('/', stopped);
    const reply = card(page).getByLabel('Reply to claude');
    await reply.fill('All of pier 3.');
    await reply.press('Enter');
    await expect.poll(() => world.posts.at(-1)?.body['text']).toBe('All of pier 3.');
  });
});

it('answers on the page of the ticket with the same keys, which the help names', async () => {
  const { page, world } = await open(`/tickets/${of.ticket}`, asking);
  await page.getByRole('button', { name: /^Yes/ }).waitFor();
  await press(page, 'a', () => world.posts.length > 0);
  expect(world.posts).toEqual([allowed]);
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Allow once, or write the answer').waitFor();
});

describe('in the notice', () => {
  it.each(['/events', '/runs', '/doctor', '/attention?tab=snoozed', '/tickets/TID-128'])(
    'on %s it names the ticket and what is asked, and allows with one key',
    async (path) => {
      const { page, world, problems } = await open(path, asking);
      await notice(page).getByRole('link', { name: of.ticket }).waitFor();
      await notice(page).getByText(`$ ${permission.command}`).waitFor();
      expect(await keysIn(notice(page))).toEqual(['a', 'x']);
      await settled(page);
      expect(await axeFindings(page)).toEqual([]);
      await press(page, 'a', () => world.posts.length > 0);
      await notice(page).getByText('Sent: Yes.').waitFor();
      await page.keyboard.press('x');
      expect(world.posts).toEqual([allowed]);
      expect(await problems()).toEqual([]);
    },
  );

  it('allows with one click, on a phone too, in the dark', async () => {
    const { page, world } = await open('/events', asking);
    await page.setViewportSize(sizes.narrow);
    await page.emulateMedia({ colorScheme: 'dark' });
    const yes = notice(page).getByRole('button', { name: /^Yes/ });
    await yes.waitFor();
    await settled(page);
    expect(await axeFindings(page, 'colours')).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    const [box, bar] = [await notice(page).boundingBox(), await page.getByRole('navigation').boundingBox()];
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
    await expect
      .poll(async () => {
        if (world.posts.length === 0) await yes.click();
        return world.posts;
      })
      .toEqual([allowed]);
  });

  it('shows the oldest of several, says how many more wait, and answers only that one', async () => {
    const { page, world } = await open('/events', asking, conversation, [later]);
    await notice(page).getByText('1 more waits').waitFor();
    expect(await notice(page).getByRole('link').first().textContent()).toBe(of.ticket);
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts).toMatchObject([{ path: 'answer', body: { answer: 'reject_once' } }]);
  });

  it('leaves the keys to the page that shows a request, and shows the next one', async () => {
    const { page, world } = await open(`/tickets/${of.ticket}`, asking, conversation, [later]);
    await notice(page).getByRole('link', { name: later.ticket }).waitFor();
    expect(await keysIn(notice(page))).toEqual([]);
    await press(page, 'a', () => world.posts.length > 0);
    expect(world.posts).toEqual([allowed]);
    await notice(page).getByRole('button', { name: /^Yes/ }).click();
    await expect.poll(() => world.posts).toEqual([allowed, { ...allowed, path: `answer ${later.ticket}` }]);
  });

  it('takes no key and no click that came as it appeared', async () => {
    const early = (): void => {
      const state = window as unknown as { early?: boolean };
      new MutationObserver((_, observer) => {
        const yes = [...document.querySelectorAll<HTMLElement>('section button')].find(
          (button) =>
            button.closest('section[aria-label="Waits for your permission"]') !== null &&
            button.textContent.startsWith('Yes'),
        );
        if (yes === undefined) return;
        observer.disconnect();
        // Its effects have run.
        requestAnimationFrame(() => {
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
          yes.click();
          state.early = true;
        });
      }).observe(document, { subtree: true, childList: true });
    };
    const { page, world } = await open('/events', asking, conversation, [], (before) =>
      before.addInitScript(early),
    );
    await expect.poll(() => page.evaluate(() => 'early' in window)).toBe(true);
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts).toMatchObject([{ body: { answer: 'reject_once' } }]);
  });

  it('answers nothing while a field or a dialog has the focus', async () => {
    const { page, world } = await open('/events', asking);
    await notice(page).getByRole('button', { name: /^Yes/ }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts).toMatchObject([{ body: { answer: 'reject_once' } }]);
  });

  it.each([
    ['cut off', { cut: true, options: permission.options.filter(({ kind }) => kind === 'reject_once') }],
    ['too long for it', { command: `npm test -- ${'x'.repeat(300)}` }],
  ])('does not allow what is %s, and still rejects it', async (_, given) => {
    const { page, world } = await open('/doctor', { ...asking, open: [{ ...permission, ...given }] });
    const no = notice(page).getByRole('button', { name: /^No/ });
    await no.waitFor();
    const yes = notice(page).getByRole('button', { name: /^Yes/ });
    if ((await yes.count()) > 0) expect(await yes.isDisabled()).toBe(true);
    await page.keyboard.press('a');
    await press(page, 'x', () => world.posts.length > 0);
    expect(world.posts.map(({ body }) => body['answer'])).toEqual(['reject_once']);
  });

  it('is not there in the past', async () => {
    const { page } = await open('/events?at=2026-01-01', asking);
    await page.getByRole('link', { name: 'Back to live' }).waitFor();
    await page.getByText('This board is not live').waitFor();
    expect(await notice(page).count()).toBe(0);
  });
});
