// A Markdown file as the checks read it: its headings with their anchors, and its links. Code is no prose: what
// stands in fences and between backticks is not read.
import { createAnchors } from './headings.ts';

export type Heading = { level: number; text: string; anchor: string; line: number };
type Link = { href: string; line: number; image: boolean };
export type MarkdownFile = { headings: Heading[]; links: Link[] };

export function readMarkdown(text: string): MarkdownFile {
  const anchorOf = createAnchors();
  const headings: Heading[] = [];
  const links: Link[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (line.trim().startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined) continue;
    const [, marks, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (marks !== undefined && title !== undefined) {
      const words = plainText(title);
      headings.push({ level: marks.length, text: words, anchor: anchorOf(words), line: index + 1 });
    }
    links.push(...linksIn(line).map((link) => ({ ...link, line: index + 1 })));
  }
  return { headings, links };
}

function linksIn(line: string): { href: string; image: boolean }[] {
  // Names of links may be code: only what looks like a link inside of it is taken away.
  const prose = line.replaceAll(/(`+)(?!`)(.*?[^`])\1(?!`)/g, (code) => (code.includes('](') ? '' : code));
  const inline = [...prose.matchAll(/(!?)\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(
    ([, bang, href = '']) => ({ href, image: bang === '!' }),
  );
  // An image that is a link: the link is around it.
  const around = [...prose.matchAll(/\]\([^)]*\)\]\(([^)\s]+)\)/g)].map(([, href = '']) => ({
    href,
    image: false,
  }));
  const defined = [...prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s+(\S+)/g)].map(([, href = '']) => ({
    href,
    image: false,
  }));
  return [...inline, ...around, ...defined];
}

/** A heading without its marks. */
function plainText(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\*\*?([^*]+)\*\*?/g, '$1')
    .replaceAll(/\\([*_<>|])/g, '$1');
}
