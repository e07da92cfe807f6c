import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { dashboardFolder, loadDashboard } from './dashboard.ts';

test('it is beside the bundled program, or in its own package', () => {
  expect(dashboardFolder('/opt/svc/packages/monitor/dist')).toBe('/opt/svc/packages/monitor/dist/dashboard');
  expect(dashboardFolder('/opt/svc/packages/monitor/src/daemon')).toBe('/opt/svc/packages/dashboard/dist');
});

test('the daemon runs without it and logs that', async () => {
  const printed: string[] = [];
  const logger = pino({}, { write: (line) => void printed.push(line) });
  const folder = temporaryFolder();
  expect(await loadDashboard(logger, folder)).toBeUndefined();
  expect(printed.join('')).toContain('npm run build');
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  expect((await loadDashboard(logger, folder))?.has('/index.html')).toBe(true);
  // A folder with ten thousand files is not a web app.
  mkdirSync(join(folder, 'many'));
  for (let number = 0; number < 2_001; number += 1) writeFileSync(join(folder, 'many', `${number}`), '');
  expect(await loadDashboard(logger, folder)).toBeUndefined();
  expect(printed.join('')).toContain('the dashboard cannot be read');
});
