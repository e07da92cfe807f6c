// How Markdown becomes a page: anchors on headings, links that lead to pages of the site, tables that scroll on a
// narrow screen instead of widening it.
import type { Markdown, Token } from '@11ty/eleventy';
import { siteLink } from './addresses.ts';
import { createAnchors } from './headings.ts';

export function addRules(
  markdown: Markdown,
  pages: ReadonlySet<string>,
  fileOf: (path: string) => string,
): void {
  markdown.core.ruler.push('anchors', ({ tokens }) => {
    const anchorOf = createAnchors();
    tokens.forEach((token, index) => {
      if (token.type === 'heading_open') token.attrSet('id', anchorOf(textOf(tokens[index + 1])));
    });
  });
  markdown.core.ruler.push('site-links', ({ tokens, env }) => {
    if (env.page === undefined) return;
    const from = fileOf(env.page.inputPath);
    for (const { children } of tokens) leadToSite(children ?? [], (href) => siteLink(pages, from, href));
  });
  markdown.renderer.rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n';
  markdown.renderer.rules['table_close'] = () => '</table></div>\n';
}

function leadToSite(tokens: readonly Token[], link: (href: string) => string | undefined): void {
  let dropped = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = token.attrGet('href') ?? '';
      const to = link(href);
      dropped = to === undefined;
      if (to !== undefined) token.attrSet('href', to);
      // The site has no source: its name stays, as text.
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

/** A heading as it reads: `svc doctor` of "`svc doctor`". */
function textOf(inline: Token | undefined): string {
  return (inline?.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');
}
