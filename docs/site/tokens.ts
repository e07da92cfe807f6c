// The colours of the site: those of the dashboard, taken from its theme, so that there is one place for each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pages.ts';

const theme = join(repository, 'packages/dashboard/src/design/theme.css');

/** Light by default, dark where the reader's system is. */
export function tokens(css = readFileSync(theme, 'utf8')): string {
  const light = declarationsOf(css, ':root');
  const dark = declarationsOf(css, ':root[data-theme="dark"]');
  return `:root {\n${light}\n}\n@media (prefers-color-scheme: dark) {\n:root {\n${dark}\n}\n}\n`;
}

function declarationsOf(css: string, selector: string): string {
  const start = css.indexOf(`\n${selector} {`);
  const block = start === -1 ? undefined : /\{\n(.*?)\n\}/s.exec(css.slice(start))?.[1];
  if (block === undefined) throw new Error(`the theme of the dashboard has no block ${selector}`);
  return block;
}
