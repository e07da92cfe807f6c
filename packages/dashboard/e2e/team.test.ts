// The team's board in the browser: two machines (two homes, two daemons) and one relay.

import { sampleBoard, sampleWorker, until } from '@svc/testkit';
import { makeRecord } from 'svc-monitor/src/features/team/io/records.ts';
import { nameHash } from 'svc-monitor/src/features/team/io/seal.ts';
import { sharedThings } from 'svc-monitor/src/features/team/shared-things.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from '../../monitor/e2e/in-process-daemon.ts';
import { putIntoServer, teamOfTwo } from '../../monitor/e2e/team-world.ts';
import { axeFindings } from './axe.ts';
import { openChromium, openPage, sizes } from './chromium.ts';
import { overflow, settled } from './screens.ts';

async function browserPage() {
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  return openPage(browser, { reducedMotion: true });
}

test('Mine and Team: persons, machines, live changes, one machine, and a machine that is not heard', async () => {
  const { one, two } = await teamOfTwo();
  one.work('ENG-1', 'implementing');
  one.work('ENG-3', 'done');
  two.work('ENG-2', 'implementing');
  const { page, problems } = await browserPage();
  const { url } = two.daemon();
  const card = (ticket: string) => page.locator(`main a[href^="/tickets/${ticket}"]`).first();
  const needsPerson = page.locator('section[aria-labelledby=column-needs-you]');

  await page.goto(url);
  await card('ENG-2').waitFor();
  expect(await card('ENG-1').count()).toBe(0);
  await page.getByRole('link', { name: 'Team', exact: true }).click();
  await card('ENG-1').getByText('person-of-one, one').waitFor();
  await card('ENG-2').getByText('person-of-two, two').waitFor();
  expect(new URL(page.url()).searchParams.get('view')).toBe('team');

  await one.open('ENG-1', 'Pay\u202e by invoice', 7);
  await card('ENG-1').getByText('title unknown').waitFor();
  await one.svc('config', 'set', 'svc.team.shareTitles', 'true');
  await card('ENG-1').getByText('Pay[U+202E] by invoice').waitFor();
  await card('ENG-1').getByText('person-of-one, one').waitFor();

  one.work('ENG-1', 'failed');
  await needsPerson.locator('a[href^="/tickets/ENG-1"]').waitFor();
  await page.getByRole('combobox', { name: 'Machine' }).selectOption('one');
  await card('ENG-2').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('machine')).toBe('one');
  await settled(page);
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize(sizes.narrow);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize(sizes.wide);

  await card('ENG-1').click();
  await page.getByText(/Published by one \(person-of-one\), received/).waitFor();
  await page.getByText(/The rest of its history is on one/).waitFor();
  // The team stays chosen on the way to other screens.
  const screens = page.getByRole('navigation', { name: 'Screens' });
  for (const screen of ['Runs', /^Attention/]) await screens.getByRole('link', { name: screen }).click();
  await page.getByText('person-of-one, one').first().waitFor();
  expect(new URL(page.url()).searchParams.get('view')).toBe('team');

  const [item] = (await one.rowOf('one'))?.attention ?? [];
  await one.svc('attention', 'hand-over', item?.id ?? '', '--to', 'person-of-two');
  await page.goto(`${url}/attention`);
  await page.getByText(/^handed over by/).waitFor();
  await page.getByText('person-of-one, one').first().waitFor();
  await page
    .getByRole('tab', { name: /Waiting for you/ })
    .getByText('1', { exact: true })
    .waitFor();

  await until(async () => (await two.rowOf('one'))?.presence === 'here');
  await one.daemon().close();
  two.skipTime(150_000);
  await page.goto(`${url}/?view=team`);
  await card('ENG-1')
    .getByText(/last heard/)
    .waitFor();
  await page.getByRole('list', { name: 'Machines that are not heard' }).waitFor();
  expect(await problems()).toEqual([]);
});

test('of a machine that has published too much a part is shown, which the page and the command line say', async () => {
  const { nats, one, two } = await teamOfTwo();
  const file = two.file();
  // Its daemon would remove what it did not publish itself.
  await two.daemon().close();
  const [thing] = sharedThings(sampleBoard({ workers: [sampleWorker()] }));
  const contradictions = Array.from({ length: 20 }, () => 'x'.repeat(1_900));
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
  for (const number of numbers) {
    const key = `run-two/ENG-${number}`;
    const value = { ...thing?.value, key, ticket: `ENG-${number}`, contradictions };
    const hash = await nameHash(file.roster?.names ?? '', 'worker', key);
    const record = await makeRecord(file, { kind: 'worker', hash }, Date.now(), { key, value });
    await putIntoServer(nats.port, file, record);
  }
  const leftOut = async () => (await one.rowOf('two'))?.leftOut;
  await until(async () => (await leftOut())?.of === numbers.length);
  const shown = (await leftOut())?.shown ?? 0;
  expect(shown).toBeLessThan(numbers.length);
  const board = await fetch(`${one.daemon().url}/api/board?team=1`);
  expect((await board.text()).length).toBeLessThan(1.1 * 1024 * 1024);
  const text = `${shown} of ${numbers.length}, the newest. The rest: svc board, on two`;
  expect((await one.svc('board', '--team')).text).toContain(`Shown: ${text}`);
  expect((await one.svc('attention', '--team')).text).toContain(`Shown: ${text}`);

  const { page } = await browserPage();
  await page.goto(`${one.daemon().url}/?view=team`);
  const list = page.getByRole('list', { name: 'Machines that are shown in part' });
  await list.getByText(`two (person-of-two): shown ${text}`).waitFor();
  await page.getByRole('combobox', { name: 'Machine' }).selectOption('one');
  await list.waitFor({ state: 'detached' });
});

test('a machine that is in no team has no switch', async () => {
  const { url } = await startInProcess();
  const { page } = await browserPage();
  await page.goto(`${url}/attention?view=team`);
  await page.getByText('Nothing needs you.').waitFor();
  expect(await page.getByRole('link', { name: 'Team', exact: true }).count()).toBe(0);
});
