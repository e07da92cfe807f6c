// The agent on a ticket's page: its conversation live, its requests answered, messages, and its changes with comments.
import type { Page } from 'playwright-core';
import type { WorkerAgent } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PWNED } from '../../testkit/src/tape/hostile.ts';
import {
  type AgentWorld,
  agentOf,
  changesOf,
  conversation,
  longDiff,
  type NewItem,
  permission,
  question,
  sampleFiles,
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
const failing = {
  status: 409,
  error: 'The request was answered already.',
  code: 'not-allowed-now',
  remedy: 'Run: svc agent show TID-121',
};

type Shown = WatchedPage & { world: AgentWorld };

async function open(
  given: { agent?: WorkerAgent; items?: readonly NewItem[]; files?: Parameters<typeof changesOf>[1] } = {},
  path = `/tickets/${of.ticket}`,
  offered: Parameters<AgentWorld['offer']>[0] = {},
): Promise<Shown> {
  const world = await startAgentWorld({
    daemonPort: tape.daemon().port,
    ...of,
    agent: given.agent ?? agentOf(),
    items: given.items ?? [],
    changes: changesOf(of, given.files ?? []),
  });
  onTestFinished(world.close);
  world.offer(offered);
  const watched = await tape.open({ offline: true });
  await watched.page.goto(world.url + path);
  await watched.page.getByText('Reserve a winter place for a boat').first().waitFor();
  return { ...watched, world };
}

const log = (page: Page) => page.getByRole('log', { name: 'Conversation with the agent' });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const message = (number: number, text = `Message ${number}`): NewItem => ({
  id: `message:m${number}`,
  kind: 'message',
  text,
  cut: false,
});
const fromEnd = (page: Page) =>
  log(page).evaluate((frame) => Math.round(frame.scrollHeight - frame.scrollTop - frame.clientHeight));

describe('the conversation', () => {
  it('shows prompts, text, code, tools, plan and usage, readable in both themes and widths', async () => {
    const { page, problems } = await open({ agent: asking, items: conversation, files: sampleFiles });
    await log(page).getByText('Prompt from svc').waitFor();
    await log(page).locator('pre', { hasText: 'return stay.extended ?? stay.until;' }).waitFor();
    expect(await log(page).locator('strong').textContent()).toBe('draft of an invoice');
    await log(page).getByText('Failed, exit code 1').waitFor();
    await page.getByText('Plan: 2 of 5 done').waitFor();
    await page.getByText('48.2 k of 200 k (24 %)').waitFor();
    const thought = button(page, /^Thought/);
    expect(await thought.getAttribute('aria-expanded')).toBe('false');
    await thought.click();
    expect(await thought.getAttribute('aria-expanded')).toBe('true');
    for (const [theme, rules] of [
      ['light', 'all'],
      ['dark', 'colours'],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const tab of ['Conversation', /^Changes/]) {
        await page.getByRole('tab', { name: tab }).click();
        await settled(page);
        expect(await axeFindings(page, rules), `${theme} ${String(tab)}`).toEqual([]);
      }
    }
    await page.setViewportSize(sizes.narrow);
    await settled(page);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await problems()).toEqual([]);
  });

  it('folds the prompt of svc, renders lists, and ends a turn without words of the protocol', async () => {
    const { page } = await open({
      items: [
        { id: 'p1', kind: 'prompt', text: 'The whole skill', by: 'svc' },
        message(1, 'I will:\n- read the file\n- change it'),
        { id: 't1', kind: 'turn', ok: true, reason: 'end_turn' },
      ],
    });
    await log(page).getByRole('listitem').getByText('change it').waitFor();
    expect(await log(page).textContent()).not.toMatch(/end_turn|Turn ended|The whole skill/);
    await button(page, 'Prompt from svc').click();
    await log(page).getByText('The whole skill').waitFor();
  });

  it('keeps earlier attempts readable', async () => {
    const { page } = await open({ agent: agentOf({ attempt: 3 }), items: [message(1, 'Said now')] });
    await log(page).getByText('Said now').waitFor();
    await button(page, 'Attempt 1').click();
    await log(page).getByText('Said in attempt 1').waitFor();
    expect(await log(page).getByText('Said now').count()).toBe(0);
    await button(page, 'Attempt 3').click();
    await log(page).getByText('Said now').waitFor();
  });

  it('leaves out what the agent does not report', async () => {
    const { page } = await open({
      agent: agentOf({ context: null, tokens: null, cost: null, model: null, mode: null }),
    });
    await page.getByText('No conversation yet.').waitFor();
    const agent = page.getByRole('region', { name: 'Agent', exact: true });
    expect(await agent.locator('dt').allTextContents()).toEqual(['Attempt']);
    expect(await agent.getByText('unknown').count()).toBe(0);
  });

  it('grows in place, opens the running tool, and starts over with another instance', async () => {
    const { page, world } = await open({ items: [message(1, 'I look')] });
    await log(page).getByText('I look', { exact: true }).waitFor();
    world.push([
      message(1, 'I look at the berths.'),
      toolOf('a', { title: 'Run one', status: 'in_progress', output: 'output of one' }),
    ]);
    await log(page).getByText('I look at the berths.').waitFor();
    await log(page).getByText('output of one').waitFor();
    expect(await log(page).getByText('I look').count()).toBe(1);
    world.push([
      toolOf('a', { title: 'Run one', output: 'output of one' }),
      toolOf('b', { title: 'Run two', status: 'in_progress', output: 'output of two' }),
    ]);
    await log(page).getByText('output of two').waitFor();
    expect(await log(page).getByText('output of one').count()).toBe(0);
    await button(page, /Run one/).click();
    await log(page).getByText('output of one').waitFor();
    world.restart([message(9, 'After the restart')]);
    await log(page).getByText('After the restart').waitFor();
    expect(await log(page).getByText('I look').count()).toBe(0);
  });

  it('stays at the end, and offers to go there when the reader has left it', async () => {
    const items = Array.from({ length: 300 }, (_, number) =>
      message(number, `Message ${number}\n\nmore`.repeat(1 + (number % 4))),
    );
    const { page, world } = await open({ items });
    await log(page).getByText('Message 299').first().waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(33);
    world.push([message(300)]);
    await log(page).getByText('Message 300').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(33);
    expect(await log(page).locator('article').count()).toBeLessThan(60);
    await log(page).hover();
    await page.mouse.wheel(0, -2_000);
    await button(page, 'To the end').waitFor();
    const top = await log(page).evaluate((frame) => frame.scrollTop);
    world.push([message(301), message(302)]);
    await button(page, '2 new').waitFor();
    expect(Math.abs((await log(page).evaluate((frame) => frame.scrollTop)) - top)).toBeLessThan(40);
    await button(page, '2 new').click();
    await log(page).getByText('Message 302').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(33);
    world.push([message(303)]);
    await log(page).getByText('Message 303').waitFor();
    await expect.poll(() => fromEnd(page)).toBeLessThan(33);
  });
});

describe('a request', () => {
  it('shows what the agent wants, and answers once by the kind of the option, by keyboard', async () => {
    const { page, world } = await open({ agent: asking, items: conversation });
    const requests = page.getByRole('region', { name: 'Open requests' });
    for (const text of [
      'claude asks for your permission',
      permission.title,
      permission.paths[0] ?? '',
      `$ ${permission.command}`,
      'alter table stays',
    ])
      await requests.getByText(text).first().waitFor();
    // With the keys.
    expect(await requests.locator('button').allTextContents()).toEqual([
      'Yesa',
      'No, tell Claude what to do differentlyx',
      'Always allow npm run',
    ]);
    await requests.getByRole('button', { name: 'Yes' }).focus();
    await page.keyboard.press('Enter');
    await requests.getByText('Sent: Yes.').waitFor();
    expect(await requests.getByRole('button', { name: /^No/ }).isDisabled()).toBe(true);
    expect(world.posts).toEqual([
      { path: 'answer', body: { request: '7', answer: 'allow_once', orchestrator: of.orchestrator } },
    ]);
    world.push([{ id: 'r7', kind: 'request', request: permission, answer: 'Yes', by: 'kim' }], {
      open: [],
      state: 'running',
    });
    await log(page).getByText('kim allowed this command').waitFor();
    expect(await requests.locator('li').count()).toBe(0);
  });

  it('shows why an answer failed and how to fix it, and can be answered again', async () => {
    const { page, world } = await open({ agent: asking, items: conversation });
    world.refuse(failing);
    await button(page, 'Yes').click();
    await page.getByRole('alert').getByText(failing.error).waitFor();
    await page.getByText('svc agent show TID-121').waitFor();
    world.refuse(null);
    await button(page, 'Yes').click();
    await page.getByText('Sent: Yes.').waitFor();
    expect(world.posts).toHaveLength(2);
  });

  it('asks again before it allows always, and shows what the agent decides', async () => {
    const { page, world } = await open({ agent: asking, items: conversation });
    await button(page, 'Always allow npm run').click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText(`$ ${permission.command}`).waitFor();
    await dialog.getByText(/The agent decides what else this allows/).waitFor();
    expect(world.posts).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(world.posts).toEqual([]);
    await button(page, 'Always allow npm run').click();
    await dialog.getByRole('button', { name: 'Allow always' }).click();
    await page.getByText('Sent: Always allow npm run.').waitFor();
    expect(world.posts.map(({ body }) => body)).toMatchObject([{ answer: 'allow_always', confirm: true }]);
  });

  it('is a form for a question', async () => {
    const { page, world } = await open({ agent: agentOf({ state: 'needs-input', open: [question] }) });
    await page.getByText('claude asks a question').waitFor();
    await button(page, 'Send answer').click();
    expect(world.posts).toEqual([]);
    await page.getByLabel('Rule').selectOption('extend');
    await page.getByLabel('Most days').fill('7');
    await page.getByLabel('Also send a mail').check();
    await button(page, 'Send answer').click();
    await page.getByText('Sent. Waiting for the agent.').waitFor();
    expect(world.posts.map(({ body }) => body)).toMatchObject([
      { request: '"q-1"', answer: 'accept', content: { rule: 'extend', days: 7, mail: true } },
    ]);
    expect(world.posts[0]?.body['content']).not.toHaveProperty('note');
    await page.reload();
    await button(page, 'Decline').click();
    await expect.poll(() => world.posts.at(-1)?.body['answer']).toBe('decline');
  });
});

describe('a message', () => {
  it('is sent with Enter, keeps its key when it is sent again, and is shown while it is queued', async () => {
    const { page, world } = await open({ items: conversation });
    const box = page.getByLabel('Send a message').last();
    world.refuse({ ...failing, error: 'The inbox is full.' });
    await box.fill('Use the hour');
    await box.press('Shift+Enter');
    expect(world.posts).toEqual([]);
    await box.fill('Use the hour too.');
    await box.press('Enter');
    await page.getByRole('alert').getByText('The inbox is full.').waitFor();
    expect(await box.inputValue()).toBe('Use the hour too.');
    world.refuse(null);
    await button(page, 'Send').click();
    await page.getByText('The agent gets it when it is idle.').waitFor();
    expect(await box.inputValue()).toBe('');
    const [first, second] = world.posts;
    expect(second).toMatchObject({
      path: 'message',
      body: { text: 'Use the hour too.', orchestrator: of.orchestrator },
    });
    expect(second?.body['key']).toBe(first?.body['key']);
    world.queue(['Use the hour too.']);
    await page.getByRole('list', { name: 'Queued messages' }).getByText('Use the hour too.').waitFor();
  });

  it('stops and resumes the agent, and opens the worktree in an editor', async () => {
    const { page, world } = await open({ items: conversation, files: sampleFiles });
    await button(page, 'Stop').click();
    await expect.poll(() => world.posts.map(({ path }) => path)).toEqual(['stop']);
    world.push([], { state: 'idle' });
    await button(page, 'Resume').click();
    await expect.poll(() => world.posts.at(-1)?.body['text']).toBe('Continue.');
    const link = page.getByRole('link', { name: 'Open in editor' });
    expect(await link.getAttribute('href')).toBe('vscode://file/home/kim/svc/wt/tideline/TID%20121%231');
  });
});

describe('what the agent offers', () => {
  const commands = [
    { name: 'review', description: 'Review a pull request', hint: 'number' },
    { name: 'compact', description: 'Summarise the conversation', hint: null },
    { name: PWNED.slice(0, 20).replaceAll(/\s/g, ''), description: PWNED, hint: null },
  ];
  const modes = [
    { id: 'default', name: 'Ask first', confirm: false },
    { id: 'all', name: 'Allow everything', confirm: true },
  ];
  const models = [
    { id: 'sonnet', name: 'Sonnet' },
    { id: 'opus', name: 'Opus' },
  ];
  const field = (page: Page) => page.getByRole('textbox', { name: 'Send a message' });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const shown = { name: 'mockup.webp', type: 'image/webp' as const, bytes: 12_000, sha256: 'a'.repeat(64) };
  const list = (page: Page, name: string) => page.getByRole('listbox', { name });

  it('completes its commands, by keyboard and by mouse, and sends them as text', async () => {
    const { page, world, problems } = await open({ items: conversation }, undefined, { commands });
    await field(page).focus();
    await expect
      .poll(async () => {
        await field(page).fill('/');
        return list(page, 'Commands of the agent').getByRole('option').count();
      })
      .toBe(3);
    await settled(page);
    expect(await axeFindings(page)).toEqual([]);
    await field(page).pressSequentially('com');
    expect(await list(page, 'Commands of the agent').getByRole('option').allTextContents()).toEqual([
      '/compactSummarise the conversation',
    ]);
    await field(page).press('Enter');
    await expect.poll(() => field(page).inputValue()).toBe('/compact ');
    expect(world.posts).toEqual([]);
    await field(page).press('Enter');
    await expect.poll(() => world.posts.at(-1)?.body['text']).toBe('/compact ');
    await field(page).fill('/');
    await field(page).press('ArrowDown');
    await field(page).press('ArrowUp');
    await field(page).press('Escape');
    expect(await list(page, 'Commands of the agent').count()).toBe(0);
    await field(page).fill('');
    await field(page).pressSequentially('/r');
    await page.setViewportSize(sizes.narrow);
    await list(page, 'Commands of the agent').getByText('/review number').click();
    await expect.poll(() => field(page).inputValue()).toBe('/review ');
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await problems()).toEqual([]);
  });

  it('takes images where the agent does: chosen, dropped and pasted, shown, removed and sent', async () => {
    const items = [
      ...conversation,
      { id: 'p9', kind: 'prompt' as const, text: 'See', by: 'kim', images: [shown] },
    ];
    const { page, world, problems } = await open({ agent: agentOf({ images: true }), items });
    await log(page).getByRole('list', { name: 'Images' }).getByText('mockup.webp (webp, 12 KiB)').waitFor();
    const images = page.getByRole('list', { name: 'Images to send' }).getByRole('listitem');
    await page.locator('input[type=file]').setInputFiles([
      { name: 'one.png', mimeType: 'image/png', buffer: png },
      { name: 'page.svg', mimeType: 'image/png', buffer: Buffer.from('<svg/>') },
    ]);
    await page.getByText('"page.svg" is not an image that can be sent.').waitFor();
    expect(await images.allTextContents()).toEqual(['one.png (png, 1 KiB)']);
    // The picture itself can be seen.
    const width = () =>
      images
        .locator('img')
        .first()
        .evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBe(1);
    for (const [event, key] of [
      ['drop', 'dataTransfer'],
      ['paste', 'clipboardData'],
    ] as const)
      await field(page).evaluate(
        (element, [name, holder, base64]) => {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          const data = new DataTransfer();
          data.items.add(new File([bytes], `${name}.png`, { type: 'image/png' }));
          const made = new Event(name, { bubbles: true, cancelable: true });
          element.dispatchEvent(Object.defineProperty(made, holder, { value: data }));
        },
        [event, key, png.toString('base64')] as const,
      );
    await images.getByText('paste.png').waitFor();
    await settled(page);
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('input[type=file]').setInputFiles([
      { name: 'four.png', mimeType: 'image/png', buffer: png },
      { name: 'five.png', mimeType: 'image/png', buffer: png },
    ]);
    await page.getByText('A message can have at most 4 images').waitFor();
    await button(page, 'Remove one.png').click();
    expect(await images.count()).toBe(2);
    await page.setViewportSize(sizes.narrow);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await field(page).fill('Make it look like this');
    world.refuse({ ...failing, error: 'The agent does not take them now.' });
    await field(page).press('Enter');
    await page.getByRole('alert').getByText('The agent does not take them now.').waitFor();
    expect(await images.count()).toBe(2);
    world.refuse(null);
    await button(page, 'Send').click();
    await expect.poll(() => images.count()).toBe(0);
    const data = png.toString('base64');
    expect(world.posts).toHaveLength(2);
    expect(world.posts[1]).toMatchObject({
      path: 'message',
      body: {
        text: 'Make it look like this',
        images: [
          { name: 'drop.png', data },
          { name: 'paste.png', data },
        ],
      },
    });
    expect(world.posts[1]?.body['key']).toBe(world.posts[0]?.body['key']);
    await field(page).fill('Thanks');
    await field(page).press('Enter');
    await expect.poll(() => world.posts.length).toBe(3);
    expect(world.posts[2]?.body).not.toHaveProperty('images');
    expect(await problems()).toEqual([]);
  });

  it('offers no image to an agent that does not take them', async () => {
    const { page } = await open({ items: conversation });
    await field(page).waitFor();
    expect(await button(page, 'Attach image').count()).toBe(0);
    expect(await page.locator('input[type=file]').count()).toBe(0);
  });

  it('completes files of the worktree after an @, and an Enter then sends', async () => {
    const given = { items: conversation, files: [...sampleFiles, { path: 'docs/season plan.md' }] };
    const { page, world } = await open(given);
    await field(page).fill('Look at @Extend-');
    const files = list(page, 'Files of the worktree');
    await files.getByRole('option').first().waitFor();
    await expect
      .poll(() => files.getByRole('option').allTextContents())
      .toEqual(['src/berths/extend-stay.ts', 'test/berths/extend-stay.test.ts']);
    await field(page).press('ArrowUp');
    await field(page).press('ArrowDown');
    await field(page).press('Tab');
    await expect.poll(() => field(page).inputValue()).toBe('Look at @src/berths/extend-stay.ts ');
    await field(page).pressSequentially('and @season');
    await files.getByRole('option').click();
    await expect
      .poll(() => field(page).inputValue())
      .toBe('Look at @src/berths/extend-stay.ts and @"docs/season plan.md" ');
    await field(page).press('Enter');
    await expect
      .poll(() => world.posts.at(-1)?.body['text'])
      .toBe('Look at @src/berths/extend-stay.ts and @"docs/season plan.md" ');
  });

  it('changes the model, and shows it only when the agent has confirmed it', async () => {
    const { page, world } = await open({ items: conversation }, undefined, { models });
    const select = page.getByLabel('Model', { exact: true });
    await select.selectOption('opus');
    await page.getByText('The agent has confirmed it.').waitFor();
    expect(await select.inputValue()).toBe('sonnet');
    expect(world.posts).toMatchObject([
      { path: 'options', body: { setting: 'model', value: 'opus', orchestrator: of.orchestrator } },
    ]);
    world.offer({ model: 'opus' });
    world.push([], { model: 'opus' });
    await expect.poll(() => select.inputValue()).toBe('opus');
  });

  it('asks before a mode in which the agent may not ask, and shows why one was refused', async () => {
    const { page, world } = await open({ items: conversation }, undefined, { modes });
    const select = page.getByLabel('Permission mode');
    await select.selectOption('all');
    await page.getByText('svc does not know whether the agent still asks').waitFor();
    await settled(page);
    expect(await axeFindings(page)).toEqual([]);
    await button(page, 'Cancel').click();
    expect(await select.inputValue()).toBe('default');
    expect(world.posts).toEqual([]);
    world.refuse({ ...failing, error: 'The agent did not take the mode all.' });
    await select.selectOption('all');
    await button(page, 'Switch to Allow everything').click();
    await page.getByRole('alert').getByText('The agent did not take the mode all.').waitFor();
    expect(await select.inputValue()).toBe('default');
    expect(world.posts).toMatchObject([{ body: { setting: 'mode', value: 'all', confirm: true } }]);
  });
});

describe('the changes', () => {
  const tab = (page: Page) => page.getByRole('tab', { name: /^Changes/ });
  const diff = (page: Page) => page.getByRole('region', { name: /^Diff of all files/ });

  it('are a tree and a diff with line numbers and signs', async () => {
    const { page } = await open({ items: conversation, files: sampleFiles });
    await expect.poll(async () => (await tab(page).textContent())?.replaceAll(/\s+/g, ' ')).toContain('6');
    await tab(page).click();
    const tree = page.getByRole('navigation', { name: 'Changed files' });
    await tree.getByText('db/migrations').waitFor();
    await diff(page).getByText('Binary file.').waitFor();
    const added = diff(page).getByText('if (!isFree(berthOf(stay)').locator('..');
    expect((await added.innerText()).replaceAll(/\s+/g, '')).toMatch(/^11\+added:if/);
    await tree.getByRole('button', { name: /extend-stay\.test\.ts/ }).click();
    await diff(page).getByText("toBe('taken')").waitFor();
    await tree.getByRole('button', { name: /tides\.json/ }).click();
    await diff(page).getByText('The diff is too long to show.').waitFor();
  });

  it('take comments, by mouse and by keyboard, which become one message', async () => {
    const { page, world } = await open({ items: conversation, files: sampleFiles.slice(0, 2) });
    await tab(page).click();
    await diff(page).getByText('A skipper can extend').hover();
    await diff(page).getByText('A skipper can extend').locator('..').getByRole('button').click();
    await page.getByLabel('Comment on CHANGELOG.md:5').fill('Say which phone.');
    await button(page, 'Keep').click();
    await diff(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByLabel('Comment on db/migrations/0042_extend_stay.sql:2').fill('Is this safe?');
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await tab(page).click();
    await button(page, 'Send 2 comments to the agent').click();
    await expect
      .poll(() => world.posts.map(({ body }) => body['text']))
      .toEqual([
        'Comments on your changes:\n\nCHANGELOG.md:5\n> - A skipper can extend a stay from the phone.\nSay which phone.\n\ndb/migrations/0042_extend_stay.sql:2\n> alter table berths alter column taken_from type timestamptz;\nIs this safe?',
      ]);
    await expect.poll(() => button(page, /^Send \d/).count()).toBe(0);
  });

  it('are loaded again on request, and when a tool that changes files has ended, at most every 3 s', async () => {
    const { page, world } = await open({ items: conversation });
    await tab(page).click();
    await page.getByText('No changes since').waitFor();
    world.change(changesOf(of, sampleFiles.slice(0, 1)));
    await button(page, 'Refresh').click();
    await page.getByText('1 changed file since').waitFor();
    world.change(changesOf(of, sampleFiles.slice(0, 2)));
    const before = world.asked();
    const started = performance.now();
    for (let number = 0; number < 20; number += 1) {
      world.push([toolOf(`e${number}`, { toolKind: 'edit' })]);
      await page.waitForTimeout(100);
    }
    await page.getByText('2 changed files since').waitFor();
    const seconds = (performance.now() - started) / 1_000;
    expect(world.asked() - before).toBeLessThanOrEqual(1 + seconds / 3);
    world.push([toolOf('r1', { toolKind: 'read' })]);
  });

  it('render only the lines that are visible', async () => {
    const path = 'src/long.ts';
    const { page } = await open({
      files: [{ path, added: 2_500, removed: 1_000, diff: longDiff(path, 5_000) }],
    });
    await tab(page).click();
    await diff(page).getByText('// line 0', { exact: false }).first().waitFor();
    expect(await diff(page).locator('[data-index]').count()).toBeLessThan(120);
    await diff(page).evaluate((frame) => frame.scrollTo(0, frame.scrollHeight));
    await diff(page).getByText('// line 4999').waitFor();
  });
});

describe('the board', () => {
  it('shows what the agent does, and that it waits for a person', async () => {
    const { page, world } = await open({}, '/');
    const card = page.locator(`main a[href^="/tickets/${of.ticket}"]`).first();
    await card.getByText('claude').waitFor();
    await card.getByText('Working').waitFor();
    await card.getByText('Edit src/berths/extend-stay.ts').waitFor();
    world.push([], { state: 'needs-permission', open: [permission] });
    await page.reload();
    await card.getByText('Waiting for your permission').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('invents nothing for a command line', async () => {
    const reason = 'claude-agent-acp is not installed.';
    const agent = agentOf({
      name: 'claude',
      protocol: false,
      reason,
      state: null,
      doing: null,
      version: null,
    });
    const { page, world } = await open({ agent, files: sampleFiles }, '/');
    const card = page.locator(`main a[href^="/tickets/${of.ticket}"]`).first();
    await card.getByText('claude').waitFor();
    expect(await card.getByText(/Working|Idle|Waiting|unknown/).count()).toBe(0);
    await page.goto(`${world.url}/tickets/${of.ticket}`);
    await page.getByText('State unknown').waitFor();
    await page.getByText(reason).waitFor();
    await page.getByText('Agent output').waitFor();
    expect(await page.getByLabel('Send a message').count()).toBe(0);
  });
});

const escape = String.fromCharCode(0x1b);
const attack = [
  `<script>window.${PWNED}='script'</script><img src=x onerror="window.${PWNED}='img'">`,
  `[click](javascript:window.${PWNED}='link') <a href="javascript:window.${PWNED}=1">a</a>`,
  `${escape}[31mred${escape}[0m ${escape}]0;title${String.fromCharCode(7)}${escape}[2J`,
  `\u202egnp.exe\u2066\u200b`,
  '```html\n<iframe srcdoc="<script>1</script>"></iframe>\n```',
].join('\n\n');

describe('a hostile transcript', () => {
  it('runs nothing, becomes no element, and stays readable', async () => {
    const long = 'x'.repeat(100_000);
    const hostile = {
      ...permission,
      title: attack,
      command: attack,
      paths: [attack],
      options: [
        { kind: 'allow_once' as const, name: attack },
        { kind: 'allow_always' as const, name: attack },
      ],
    };
    const asks = {
      ...question,
      title: attack,
      fields: question.fields.map((field) => ({
        ...field,
        title: attack,
        choices: field.choices.map(() => attack),
      })),
    };
    const items: NewItem[] = [
      { id: 'p1', kind: 'prompt', text: attack, by: attack },
      { id: 'plan', kind: 'plan', entries: [{ content: attack, status: attack }] },
      { id: 'thought:1', kind: 'thought', text: attack, cut: true },
      message(1, attack),
      message(2, long),
      toolOf('migrate', {
        title: attack,
        toolKind: 'constructor',
        command: attack,
        paths: [attack],
        output: attack + long,
        diffs: [{ path: attack, before: attack, after: `${attack}${long}` }],
        status: 'in_progress',
      }),
      { id: 'r1', kind: 'request', request: hostile, answer: attack, by: attack },
      { id: 't1', kind: 'turn', ok: false, reason: attack },
    ];
    const lines = attack.split('\n').map((line) => `+${line}`);
    const diff = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,${lines.length + 1} @@\n${lines.join('\n')}\n+${long}\n`;
    const agent = agentOf({
      name: attack,
      version: attack,
      mode: attack,
      model: attack,
      doing: attack,
      problem: attack,
      open: [hostile, asks],
      cost: { amount: 1, currency: attack },
    });
    const { page, problems, world } = await open({ agent, items, files: [{ path: `src/${attack}`, diff }] });
    world.queue([attack]);
    const check = async (): Promise<void> => {
      await settled(page);
      expect(await page.evaluate(`window.${PWNED}`)).toBeUndefined();
      expect(
        await page.locator('main iframe, main img, main script, main a[href^="javascript"]').count(),
      ).toBe(0);
      const shown = (await page.locator('main').textContent()) ?? '';
      expect(shown).toContain('<script>');
      expect(shown).toContain('[U+202E]');
      expect([escape, '\u202e', '\u2066', '\u200b'].filter((one) => shown.includes(one))).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    };
    await page.getByRole('list', { name: 'Queued messages' }).waitFor();
    await check();
    await button(page, /^Plan/).click();
    await log(page).evaluate((frame) => frame.scrollTo(0, 0));
    await button(page, /Thought/).click();
    await check();
    await page.getByRole('tab', { name: /^Changes/ }).click();
    await check();
    await page.setViewportSize(sizes.narrow);
    await check();
    await page.goto(`${world.url}/`);
    await page
      .locator(`main a[href^="/tickets/${of.ticket}"]`)
      .first()
      .getByText('[U+202E]')
      .first()
      .waitFor();
    await check();
    expect(await problems()).toEqual([]);
  });
});
