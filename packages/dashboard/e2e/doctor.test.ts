// The doctor's page: what the daemon can repair by itself is one click, everything else is a command to copy.
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { axeFindings } from './axe.ts';
import { settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'nothing' });

it('shows what is switched off, commands to copy, and how fast svc is, which telemetry leaves out', async () => {
  const { page, problems } = await tape.open();
  await page.goto(`${tape.daemon().url}/doctor`);
  const off = page.getByRole('region', { name: 'Switched off' });
  await off.getByRole('listitem').first().waitFor();
  expect(await off.getByText('off', { exact: true }).count()).toBe(await off.getByRole('listitem').count());
  const remedy = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Copy' }) });
  await remedy.first().getByText(/^svc /).waitFor();
  await page.getByText('Saved after (median)').waitFor();
  await page.goto(`${tape.daemon().url}/telemetry`);
  await page.getByRole('heading', { name: 'Telemetry' }).waitFor();
  await settled(page);
  expect(await page.locator('main').textContent()).not.toMatch(/Saved after|How fast svc is|Disk write/);
  expect(await problems()).toEqual([]);
});

it('repairs what is safe to repair, shows the result, and leaves the rest to the person', async () => {
  const file = join(tape.daemon().home, '.config/svc/config.json');
  chmodSync(file, 0o644);
  const { page, problems } = await tape.open();
  await page.goto(`${tape.daemon().url}/doctor`);
  const finding = page.getByRole('listitem').filter({ hasText: `other users can read ${file}` });
  await finding.getByText('chmod 600').waitFor();
  expect(statSync(file).mode & 0o777).toBe(0o644);
  await page.getByRole('button', { name: 'Check again' }).waitFor();
  expect(await page.getByRole('button', { name: /^Repair/ }).count()).toBe(1);
  await settled(page);
  expect(await axeFindings(page)).toEqual([]);

  await finding.getByRole('button', { name: 'Repair' }).click();
  await page
    .getByRole('status', { name: 'Repairs' })
    .getByText(`Repaired: set the mode of ${file} to 600.`)
    .waitFor();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect.poll(() => finding.count()).toBe(0);
  expect(await page.getByRole('button', { name: /^Repair/ }).count()).toBe(0);
  expect(await problems()).toEqual([]);
});
