// The site: which files of the repository are its pages, their URLs, their links, and their order. Files keep their
// links to each other (`x.md`, `../README.md#part`), so that they also work on a code host.
import { existsSync, globSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

export const repository = join(import.meta.dirname, '../..');
/** The home page of the site. Its sections are the navigation: each link in it is an entry. */
export const home = 'docs/README.md';
/** Files outside docs/ that are pages too. */
const outsidePages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

export function allPages(root = repository): Set<string> {
  const inDocs = globSync('docs/**/*.md', { cwd: root, exclude: (path) => path.endsWith('docs/site') });
  const outside = outsidePages.filter((file) => existsSync(join(root, file)));
  return new Set([...inDocs.map((file) => file.replaceAll(sep, '/')), ...outside].toSorted());
}

/** The URL of a file in the repository: `docs/relay/README.md` is `relay/index.html`. */
export function addressOf(file: string): string {
  const below = file.replace(/^docs\//, '');
  const { dir, name } = posix.parse(outsidePages.includes(file) ? below.toLowerCase() : below);
  return posix.join(dir, `${name === 'README' ? 'index' : name}.html`);
}

export type Target =
  | { kind: 'outside' }
  | { kind: 'anchor'; anchor: string }
  | { kind: 'file'; file: string; anchor: string };

/** The target of a link in a file of the repository. */
export function targetOf(from: string, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return { kind: 'outside' };
  const [path = '', anchor = ''] = href.split('#', 2);
  if (path === '') return { kind: 'anchor', anchor };
  const file = posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path))).replace(/\/$/, '');
  return { kind: 'file', file, anchor };
}

/** The page for a path: the file itself, or the README of the folder. */
export function pageAt(pages: ReadonlySet<string>, path: string): string | undefined {
  return [path, posix.join(path, 'README.md')].find((candidate) => pages.has(candidate));
}

/** The same link on the site; undefined if it leads to the source, which the site does not contain. */
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

/** Anchors of the headings of one page, like those of the code host; a repeated one is numbered. */
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

/** Headings with their anchors, and links. Fenced and inline code is ignored. */
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
  // Link texts may be code: only code that looks like a link is removed.
  const prose = line.replaceAll(/(`+)(?!`)(.*?[^`])\1(?!`)/g, (code) => (code.includes('](') ? '' : code));
  const inline = prose.matchAll(/(!?)\[((?:[^\]\\]|\\.)*)\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  // A linked image: the link is around it.
  const around = prose.matchAll(/\]\([^)]*\)\]\(([^)\s]+)\)/g);
  const defined = prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s+(\S+)/g);
  return [
    ...[...inline].map(([, bang, text = '', href = '']) => ({ text, href, image: bang === '!' })),
    ...[...around, ...defined].map(([, href = '']) => ({ text: '', href, image: false })),
  ];
}

/** A heading without its markup. */
function plainText(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\*\*?([^*]+)\*\*?/g, '$1')
    .replaceAll(/\\([*_<>|])/g, '$1');
}

export type Section = { title: string; pages: { file: string; title: string }[] };

/** The sections of the home page with their linked pages, in order. */
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
