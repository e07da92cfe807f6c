// The site: which files are its pages, their addresses, links and order. Files link to each other by path (`x.md`,
// `../README.md#part`), so they also work on a code host.
import { existsSync, globSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

export const repository = join(import.meta.dirname, '../..');
/** The first page. Its sections and links are the navigation. */
export const home = 'docs/README.md';
/** Pages outside docs/. */
const outsidePages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

export function allPages(root = repository): Set<string> {
  const inDocs = globSync('docs/**/*.md', { cwd: root, exclude: (path) => path.endsWith('docs/site') });
  const outside = outsidePages.filter((file) => existsSync(join(root, file)));
  return new Set([...inDocs.map((file) => file.replaceAll(sep, '/')), ...outside].toSorted());
}

/** The address of a file of the repository: `docs/relay/README.md` is `relay/index.html`. */
export function addressOf(file: string): string {
  const below = file.replace(/^docs\//, '');
  const { dir, name } = posix.parse(outsidePages.includes(file) ? below.toLowerCase() : below);
  return posix.join(dir, `${name === 'README' ? 'index' : name}.html`);
}

export type Target =
  | { kind: 'outside' }
  | { kind: 'anchor'; anchor: string }
  | { kind: 'file'; file: string; anchor: string };

/** Resolves a link in a file of the repository. */
export function targetOf(from: string, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return { kind: 'outside' };
  const [path = '', anchor = ''] = href.split('#', 2);
  if (path === '') return { kind: 'anchor', anchor };
  const file = posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path))).replace(/\/$/, '');
  return { kind: 'file', file, anchor };
}

/** The page of a path: the file itself, or the README of the folder. */
export function pageAt(pages: ReadonlySet<string>, path: string): string | undefined {
  return [path, posix.join(path, 'README.md')].find((candidate) => pages.has(candidate));
}

/** The same link on the site; undefined for a source file, which the site does not have. */
export function siteLink(pages: ReadonlySet<string>, from: string, href: string): string | undefined {
  const target = targetOf(from, href);
  if (target.kind !== 'file') return href;
  const page = pageAt(pages, target.file);
  const image = target.file.startsWith('docs/images/') ? target.file.replace(/^docs\//, '') : undefined;
  const to = page === undefined ? image : addressOf(page);
  if (to === undefined) return undefined;
  const relative = posix.relative(posix.dirname(addressOf(from)), to);
  return target.anchor === '' ? relative : `${relative}#${target.anchor}`;
}

/** Anchors of the headings of one page, as on the code host; repeated ones are numbered. */
export function createAnchors(): (heading: string) => string {
  const taken = new Map<string, number>();
  return (heading) => {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = taken.get(anchor) ?? 0;
    taken.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}

export type Heading = { level: number; text: string; anchor: string; line: number };
type Link = { text: string; href: string; line: number; image: boolean };
export type MarkdownFile = { headings: Heading[]; links: Link[] };

/** Headings with their anchors, and links, without those in code. */
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

function linksIn(line: string): { text: string; href: string; image: boolean }[] {
  // The text of a link may be code: only links inside code are removed.
  const prose = line.replaceAll(/(`+)(?!`)(.*?[^`])\1(?!`)/g, (code) => (code.includes('](') ? '' : code));
  const inline = prose.matchAll(/(!?)\[((?:[^\]\\]|\\.)*)\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  // An image inside a link.
  const around = prose.matchAll(/\]\([^)]*\)\]\(([^)\s]+)\)/g);
  const defined = prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s+(\S+)/g);
  return [
    ...[...inline].map(([, bang, text = '', href = '']) => ({ text, href, image: bang === '!' })),
    ...[...around, ...defined].map(([, href = '']) => ({ text: '', href, image: false })),
  ];
}

/** A heading without markup. */
function plainText(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\*\*?([^*]+)\*\*?/g, '$1')
    .replaceAll(/\\([*_<>|])/g, '$1');
}

export type Section = { title: string; pages: { file: string; title: string }[] };

/** The sections of the home page with their links, in order. */
export function sectionsOf(text: string): Section[] {
  const { headings, links } = readMarkdown(text);
  return headings
    .filter(({ level }) => level === 2)
    .map(({ text: title, line }, index, all) => {
      const end = all[index + 1]?.line ?? Number.POSITIVE_INFINITY;
      const own = links.filter((link) => link.line > line && link.line < end);
      return {
        title,
        pages: own.flatMap(({ text: name, href }) => {
          const target = targetOf(home, href);
          const capital = name.startsWith('svc ') ? name : name.charAt(0).toUpperCase() + name.slice(1);
          return target.kind === 'file' ? [{ file: target.file, title: capital }] : [];
        }),
      };
    })
    .filter(({ pages }) => pages.length > 0);
}
