// Writes docs/reference from the code; with --check it only reports outdated pages.
//
//   npm run docs:reference
//   npm run docs:reference -- --check
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configPage } from './config-page.ts';
import { eventsPage } from './events-page.ts';
import { withFailures } from './failures-table.ts';
import { metricsPage } from './metrics-page.ts';
import { routesPage } from './routes-page.ts';
import { verbsPage } from './verbs-page.ts';

const folder = join(import.meta.dirname, '..');
const openApi = join(folder, '../../schemas/openapi.json');

const textOf = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

const wanted = new Map<string, string>([
  ['config.md', configPage()],
  ['events.md', eventsPage()],
  ['routes.md', routesPage(openApi)],
  ['verbs.md', await verbsPage()],
  ['metrics.md', await metricsPage()],
  // Written by hand except for one table.
  ['exit-codes.md', withFailures(textOf('exit-codes.md'))],
]);
const changed = [...wanted].filter(([name, text]) => textOf(name) !== text).map(([name]) => name);

if (process.argv.includes('--check')) {
  if (changed.length > 0) {
    process.stderr.write(
      `docs/reference is out of date: ${changed.join(', ')}. Run: npm run docs:reference\n`,
    );
    process.exitCode = 1;
  }
} else {
  for (const name of changed) writeFileSync(join(folder, name), wanted.get(name) ?? '');
  process.stdout.write(
    changed.length === 0 ? 'docs/reference is up to date\n' : `wrote ${changed.join(', ')}\n`,
  );
}
