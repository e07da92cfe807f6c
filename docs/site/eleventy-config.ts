// The site as Eleventy sees it: every Markdown file of docs/ in one layout. Nothing in the pages is a template.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Config, PageData } from '@11ty/eleventy';
import { addressOf, outsidePages } from './addresses.ts';
import { readMarkdown } from './markdown-file.ts';
import { addRules } from './markdown-rules.ts';
import { home, sections } from './navigation.ts';
import { repository } from './pages.ts';
import { tokens } from './tokens.ts';

const FONT = 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

export function configure(config: Config, pages: ReadonlySet<string>): void {
  config.setUseGitIgnore(false);
  config.setQuietMode(true);
  config.setInputDirectory('docs');
  config.setIncludesDirectory('site/templates');
  config.setDataDirectory('site/data');
  config.setTemplateFormats(['md']);
  config.ignores.add('docs/site/**');
  config.amendLibrary('md', (markdown) => addRules(markdown, pages, fileOf));
  for (const file of outsidePages)
    if (pages.has(file)) config.addTemplate(file, readFileSync(join(repository, file), 'utf8'));
  config.addPassthroughCopy({ 'docs/images': 'images', [FONT]: 'inter.woff2' });
  config.addGlobalData('style', tokens() + readFileSync(join(import.meta.dirname, 'site.css'), 'utf8'));
  config.addGlobalData('layout', 'layout.njk');
  config.addGlobalData('templateEngineOverride', 'md');
  config.addGlobalData('eleventyComputed', {
    permalink: ({ page }: PageData) => addressOf(fileOf(page.inputPath)),
    view: ({ page }: PageData) => viewOf(fileOf(page.inputPath)),
  });
}

/** What the layout shows around a page. */
function viewOf(file: string) {
  const here = addressOf(file);
  const link = (to: string): string => posix.relative(posix.dirname(here), to);
  const { headings } = readMarkdown(readFileSync(join(repository, file), 'utf8'));
  const order = sections.flatMap(({ pages }) => pages);
  const at = order.findIndex((one) => one.file === file);
  const neighbour = (index: number) => {
    const one = at === -1 ? undefined : order[index];
    return one && { title: one.title, href: link(addressOf(one.file)) };
  };
  return {
    title: headings[0]?.text ?? file,
    isHome: file === home,
    home: link(addressOf(home)),
    font: link('inter.woff2'),
    root: '../'.repeat(here.split('/').length - 1),
    sections: sections.map(({ title, pages }) => ({
      title,
      pages: pages.map((one) => ({
        title: one.title,
        href: link(addressOf(one.file)),
        current: one.file === file,
      })),
    })),
    contents: headings.filter(({ level }) => level === 2),
    before: neighbour(at - 1),
    after: neighbour(at + 1),
  };
}

/** The file of the repository that a page was made from. */
function fileOf(inputPath: string): string {
  const path = inputPath.replace(/^\.\//, '');
  return outsidePages.find((file) => path === `docs/${file}`) ?? path;
}
