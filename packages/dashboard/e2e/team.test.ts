// The team's board in the browser: two machines (two homes, two daemons) and one relay.
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from '../../monitor/e2e/in-process-daemon.ts';
import { teamOfTwo } from '../../monitor/e2e/team-world.ts';
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

test('a machine that is in no team has no switch', async () => {
  const { url } = await startInProcess();
  const { page } = await browserPage();
  await page.goto(`${url}/attention?view=team`);
  await page.getByText('Nothing needs you.').waitFor();
  expect(await page.getByRole('link', { name: 'Team', exact: true }).count()).toBe(0);
});
