// Builds the site into a folder that is made anew.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Eleventy } from '@11ty/eleventy';
import { addressOf } from './addresses.ts';
import { configure } from './eleventy-config.ts';
import { readMarkdown } from './markdown-file.ts';
import { allPages, repository } from './pages.ts';

// What the search of the site knows: every heading, and in the guide and the reference the first cell of every row of
// a table. So the words on a screen, a key or a verb are found. It travels as a script: a page that is opened from
// a disk may not fetch.

/** Where it leads, what is found there, and on which page. */
export type Entry = [address: string, text: string, page: string];

const script = join(import.meta.dirname, 'search.js');

export function searchScript(pages: ReadonlySet<string>): string {
  const entries = [...pages]
    .filter((file) => file !== 'docs/conformance.md')
    .flatMap((file) => entriesOf(file, readFileSync(join(repository, file), 'utf8')));
  return `globalThis.searchIndex = ${JSON.stringify(entries)};\n${readFileSync(script, 'utf8')}`;
}

export function entriesOf(file: string, text: string): Entry[] {
  const { headings } = readMarkdown(text);
  const title = headings[0]?.text ?? file;
  const address = addressOf(file);
  const found: Entry[] = headings.map(({ level, text: words, anchor }) => [
    level === 1 ? address : `${address}#${anchor}`,
    words,
    title,
  ]);
  if (!/^docs\/(?:guide|reference)\//.test(file)) return found;
  const rows = text.split('\n').flatMap((line, index): Entry[] => {
    const cell = /^\| ((?:[^|\\]|\\.)+?) \|/.exec(line)?.[1];
    const above = headings.findLast((heading) => heading.line <= index);
    const isHead = text.split('\n', index + 2)[index + 1]?.startsWith('| ---') === true;
    if (cell === undefined || cell.startsWith('---') || above === undefined || isHead) return [];
    return [[`${address}#${above.anchor}`, plain(cell), title]];
  });
  return [...found, ...rows];
}

function plain(cell: string): string {
  return cell
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\\(.)/g, '$1');
}

export async function buildSite(output: string): Promise<void> {
  // Eleventy reads its paths from the current folder.
  process.chdir(repository);
  rmSync(output, { recursive: true, force: true });
  const pages = allPages();
  const site = new Eleventy('docs', relative(repository, output), {
    quietMode: true,
    // No file of this name is looked for: the configuration is given here.
    configPath: undefined,
    config: (config) => configure(config, pages),
  });
  await site.write();
  writeFileSync(join(output, 'search.js'), searchScript(pages));
}
