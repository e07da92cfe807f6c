// What needs a person on the dashboard: an agent that waits cannot be dismissed, and what was done with an item is undone.
import type { Page } from 'playwright-core';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { expect, it } from 'vitest';
import { axeFindings } from './axe.ts';
import { goTo, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });

async function board(): Promise<BoardView> {
  return (await (await fetch(`${tape.daemon().url}/api/board`)).json()) as BoardView;
}

/** The item whose ticket and reason these are. */
async function itemOf(ticket: string, reason: string): Promise<AttentionItem | undefined> {
  return (await board()).attention.find((item) => item.ticket === ticket && item.reason === reason);
}

async function select(page: Page, id: string): Promise<void> {
  await page.goto(`${tape.daemon().url}/attention?id=${encodeURIComponent(id)}`);
  await page.locator(`[data-item="${id}"][aria-current=true]`).waitFor();
  await settled(page);
}

const cards = (page: Page, column: string) =>
  page.locator(`section[aria-labelledby=column-${column}] a[href^="/tickets/TID-106"]`);

it('r is refused while the cause exists and offers the snooze; the card stays in Needs you; u undoes', async () => {
  const { page, problems } = await tape.open();
  const item = await itemOf('TID-106', 'deploy-budget-exhausted');
  if (item === undefined) throw new Error('its item is not open');
  await select(page, item.id);
  const name = page.getByLabel('Your name in the log');
  expect(await name.getAttribute('placeholder')).toBe('a person');
  await name.fill('kim');
  await name.blur();
  await page.keyboard.press('r');
  await page.getByRole('status').getByText('TID-106 is not resolved: its cause still exists.').waitFor();
  expect(await itemOf('TID-106', 'deploy-budget-exhausted')).toBeDefined();
  expect(await page.getByRole('button', { name: /Resolve/ }).getAttribute('aria-disabled')).toBe('true');
  expect(await axeFindings(page)).toEqual([]);

  await page.getByRole('status').getByRole('button', { name: 'Snooze' }).click();
  await page.getByRole('menuitem', { name: '2 hours' }).click();
  await page.getByRole('status').getByText('Snoozed: TID-106').waitFor();
  await expect.poll(async () => (await itemOf('TID-106', item.reason))?.snoozedUntil).not.toBeNull();
  const snoozes = await fetch(`${tape.daemon().url}/api/events?event=comms.attention_snoozed&limit=1`);
  expect(await snoozes.json()).toMatchObject({ events: [{ detail: { by: 'kim' } }] });

  await goTo(page, tape.daemon().url, screens[0] ?? { name: '', path: '/', shows: '' });
  await cards(page, 'needs-you')
    .getByText(/snoozed until/)
    .waitFor();

  await page.goto(`${tape.daemon().url}/attention?tab=snoozed&id=${encodeURIComponent(item.id)}`);
  await page.locator(`[data-item="${item.id}"][aria-current=true]`).waitFor();
  await page.keyboard.press('e');
  await page.getByRole('status').getByText('Acknowledged: TID-106').waitFor();
  await page.keyboard.press('u');
  await expect.poll(async () => (await itemOf('TID-106', item.reason))?.acknowledged).toBeNull();
  expect(await problems()).toEqual([]);
});

it('an item without a checkable cause is resolved with r, and comes back with Undo', async () => {
  const { page, problems } = await tape.open();
  const detail = JSON.stringify({ reason: 'question', message: 'Which harbour?', severity: 'medium' });
  const about = ['--ticket', 'TID-121', '--orchestrator', 'run-winter-storage', '--detail', detail];
  const { code } = await tape.daemon().svc('events', 'append', '--event', 'comms.attention', ...about);
  expect(code).toBe(0);
  const id = 'run-winter-storage/TID-121/question';
  await select(page, id);
  await page.keyboard.press('r');
  await page.getByRole('status').getByText('Resolved: TID-121').waitFor();
  await expect.poll(() => itemOf('TID-121', 'question')).toBeUndefined();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => itemOf('TID-121', 'question')).toBeDefined();
  await page.locator(`[data-item="${id}"]`).waitFor();
  expect(await problems()).toEqual([]);
});
