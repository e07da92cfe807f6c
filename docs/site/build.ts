// npm run docs: builds the site into docs/site/dist. Any web server can serve it from any path, and a browser can open
// docs/site/dist/index.html from disk. It loads nothing from other sites.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import {
  addressOf,
  allPages,
  createAnchors,
  home,
  readMarkdown,
  repository,
  type Section,
  sectionsOf,
  siteLink,
} from './site.ts';

const FONT = 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
const THEME = 'packages/dashboard/src/design/theme.css';
const markdown = new MarkdownIt({ html: true });
// A flag stays on one line: browsers would break it after a hyphen.
markdown.renderer.rules['code_inline'] = (tree, index) => {
  const words = escaped(tree[index]?.content ?? '').split(' ');
  const shown = words.map((word) => (/^\[?--?\w/.test(word) ? `<span class="flag">${word}</span>` : word));
  return `<code>${shown.join(' ')}</code>`;
};
// Tables scroll on a narrow screen instead of widening it.
markdown.renderer.rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n';
markdown.renderer.rules['table_close'] = () => '</table></div>\n';

const read = (file: string): string => readFileSync(join(repository, file), 'utf8');

/** Into a folder that is created again. */
export function buildSite(output: string): void {
  rmSync(output, { recursive: true, force: true });
  const pages = allPages();
  const sections = sectionsOf(read(home));
  const style = tokens() + readFileSync(join(import.meta.dirname, 'site.css'), 'utf8');
  for (const file of pages) {
    const path = join(output, addressOf(file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, layout(file, { sections, style, content: contentOf(file, pages) }));
  }
  cpSync(join(repository, 'docs/images'), join(output, 'images'), { recursive: true });
  cpSync(join(repository, FONT), join(output, 'inter.woff2'));
  writeFileSync(join(output, 'search.js'), searchScript(pages));
}

/** Adds anchors to headings, and points links to pages of the site. */
function contentOf(file: string, pages: ReadonlySet<string>): string {
  const tree = markdown.parse(read(file), {});
  const anchorOf = createAnchors();
  for (const [index, token] of tree.entries()) {
    if (token.type === 'heading_open') token.attrSet('id', anchorOf(textOf(tree[index + 1])));
    leadToSite(token.children ?? [], (href) => siteLink(pages, file, href));
  }
  return markdown.renderer.render(tree, markdown.options, {});
}

function leadToSite(inline: readonly Token[], link: (href: string) => string | undefined): void {
  let dropped = false;
  for (const token of inline) {
    if (token.type === 'link_open') {
      const to = link(token.attrGet('href') ?? '');
      dropped = to === undefined;
      if (to !== undefined) token.attrSet('href', to);
      // The site does not contain the source: only its name stays, as text.
      else Object.assign(token, { tag: 'span', attrs: [['class', 'source']] });
    } else if (token.type === 'link_close' && dropped) {
      token.tag = 'span';
      dropped = false;
    } else if (token.type === 'image') {
      const to = link(token.attrGet('src') ?? '');
      if (to === undefined) throw new Error(`the site has no image ${token.attrGet('src')}`);
      token.attrSet('src', to);
      token.attrSet('loading', 'lazy');
    }
  }
}

/** A heading as plain text: `svc doctor` from "`svc doctor`". */
function textOf(inline: Token | undefined): string {
  return (inline?.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function layout(file: string, given: { sections: Section[]; style: string; content: string }): string {
  const here = addressOf(file);
  const root = '../'.repeat(here.split('/').length - 1);
  const link = (to: string): string => posix.relative(posix.dirname(here), addressOf(to));
  const { headings } = readMarkdown(read(file));
  const title = escaped(headings[0]?.text ?? file);
  const order = given.sections.flatMap(({ pages }) => pages);
  const at = order.findIndex((one) => one.file === file);
  const neighbour = (index: number, rel: string, label: string): string => {
    const one = at === -1 ? undefined : order[index];
    if (one === undefined) return '';
    return `<a rel="${rel}" href="${link(one.file)}"><span>${label}</span>${escaped(one.title)}</a>`;
  };
  const neighbours = neighbour(at - 1, 'prev', 'Before') + neighbour(at + 1, 'next', 'Next');
  const tree = given.sections
    .map(({ title: name, pages }) => {
      const items = pages.map((one) => {
        const current = one.file === file ? ' aria-current="page"' : '';
        return `<li><a href="${link(one.file)}"${current}>${escaped(one.title)}</a></li>`;
      });
      return `<section><h2>${escaped(name)}</h2><ul>\n${items.join('\n')}</ul></section>`;
    })
    .join('\n');
  const parts = headings.filter(({ level }) => level === 2);
  const contents = parts.map(({ anchor, text }) => `<li><a href="#${anchor}">${escaped(text)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file:; style-src 'unsafe-inline'; img-src 'self' data: file:; font-src 'self' file:">
<title>${title}${file === home ? '' : ' · svc'}</title>
<link rel="icon" href="data:,">
<style>
@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url("${root}inter.woff2") format("woff2"); }
${given.style}</style>
<script src="${root}search.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header><a class="name" href="${link(home)}">svc</a><span class="what">documentation</span>
<form role="search" data-root="${root}" hidden><input type="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off"><ul hidden></ul></form></header>
<details class="menu"><summary>All pages</summary><nav aria-label="All pages">${tree}</nav></details>
<div class="columns">
<nav class="side" aria-label="Pages">${tree}</nav>
<main id="content">
${given.content}
${neighbours === '' ? '' : `<footer>${neighbours}</footer>`}
</main>
<aside>${parts.length > 1 ? `<nav aria-label="On this page"><h2>On this page</h2><ul>\n${contents.join('\n')}</ul></nav>` : ''}</aside>
</div>
</body>
</html>
`;
}

/** Its link, its text, and its page. */
type Entry = [address: string, text: string, page: string];

/**
 * The search index of the site: every heading, and in the guide and the reference the first cell of every table row, so
 * that a text from a screen, a key or a verb is found. It is a script, because a page opened from disk must not fetch.
 */
export function searchScript(pages: ReadonlySet<string>): string {
  const entries = [...pages]
    .filter((file) => file !== 'docs/conformance.md')
    .flatMap((file) => entriesOf(file, read(file)));
  const script = readFileSync(join(import.meta.dirname, 'search.js'), 'utf8');
  return `globalThis.searchIndex = ${JSON.stringify(entries)};\n${script}`;
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
  const lines = text.split('\n');
  const rows = lines.flatMap((line, index): Entry[] => {
    const cell = /^\| ((?:[^|\\]|\\.)+?) \|/.exec(line)?.[1];
    const above = headings.findLast((heading) => heading.line <= index);
    const isHead = lines[index + 1]?.startsWith('| ---') === true;
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

/** The colours of the dashboard: light by default, dark if the reader's system is. */
export function tokens(css = read(THEME)): string {
  const declarationsOf = (selector: string): string => {
    const start = css.indexOf(`\n${selector} {`);
    const block = start === -1 ? undefined : /\{\n(.*?)\n\}/s.exec(css.slice(start))?.[1];
    if (block === undefined) throw new Error(`the theme of the dashboard has no block ${selector}`);
    return block;
  };
  const [light, dark] = [declarationsOf(':root'), declarationsOf(':root[data-theme="dark"]')];
  return `:root {\n${light}\n}\n@media (prefers-color-scheme: dark) {\n:root {\n${dark}\n}\n}\n`;
}

if (import.meta.main) {
  const output = join(import.meta.dirname, 'dist');
  buildSite(output);
  process.stdout.write(`${join(output, 'index.html')}\n`);
}
