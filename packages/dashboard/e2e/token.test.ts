// The dashboard when the daemon requires a token: `svc open` gives the page its key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from '../../monitor/e2e/in-process-daemon.ts';
import { openChromium, openPage } from './chromium.ts';

test('a page without a key shows how to get one; a page opened with a code has it, also in another tab', async () => {
  const daemon = await startInProcess({ socketTable: () => Promise.resolve(undefined) });
  const token = readFileSync(join(daemon.machine.dataDir, 'api-token'), 'utf8').trim();
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const { page } = await openPage(browser, { offline: true });
  await page.goto(daemon.url);
  await page.getByText('This daemon requires a token.').waitFor();
  const { body } = await daemon.post('/api/access/code', '{}', {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${token}`,
  });
  await page.goto(`${daemon.url}/#enter=${String(body['code'])}`);
  await page.reload();
  await page.getByText('This daemon requires a token.').waitFor({ state: 'detached' });
  expect(page.url()).toBe(`${daemon.url}/`);
  const another = await page.context().newPage();
  const [board] = await Promise.all([
    another.waitForResponse((response) => new URL(response.url()).pathname === '/api/board'),
    another.goto(daemon.url),
  ]);
  expect(board.status()).toBe(200);
});
