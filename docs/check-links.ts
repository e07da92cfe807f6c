// npm run docs:check: reports problems in the Markdown files of the repository, as a code host shows them, and in the
// generated reference. Exit code 1 if there are any. Links to other sites are not checked.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

const repository = join(import.meta.dirname, '..');
/** Links every page that its folder's README does not link. */
export const home = 'docs/README.md';
const notOurs = new Set(['node_modules', 'dist', 'coverage', '.git', 'screenshots']);

type Heading = { level: number; text: string; anchor: string; line: number };
export type MarkdownFile = { headings: Heading[]; links: { href: string; line: number }[] };

/** Every Markdown file below a folder. */
export function readAll(root: string): Map<string, MarkdownFile> {
  const files = globSync('**/*.md', {
    cwd: root,
    exclude: (path) => path.split(sep).some((part) => notOurs.has(part)),
  });
  return new Map(
    files
      .map((file) => file.replaceAll(sep, '/'))
      .toSorted()
      .map((file) => [file, readMarkdown(readFileSync(join(root, file), 'utf8'))]),
  );
}

/** Headings with their anchors, and links. Fenced and inline code is ignored. */
export function readMarkdown(text: string): MarkdownFile {
  const anchorOf = createAnchors();
  const headings: Heading[] = [];
  const links: MarkdownFile['links'] = [];
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
    links.push(...linksIn(line).map((href) => ({ href, line: index + 1 })));
  }
  return { headings, links };
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

function linksIn(line: string): string[] {
  // Link texts may be code: only code that looks like a link is removed.
  const prose = line.replaceAll(/(`+)(?!`)(.*?[^`])\1(?!`)/g, (code) => (code.includes('](') ? '' : code));
  const inline = prose.matchAll(/\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  // A linked image: the link is around it.
  const around = prose.matchAll(/\]\([^)]*\)\]\(([^)\s]+)\)/g);
  const defined = prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s+(\S+)/g);
  return [...inline, ...around, ...defined].map(([, href = '']) => href);
}

/** A heading without its markup. */
function plainText(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\*\*?([^*]+)\*\*?/g, '$1')
    .replaceAll(/\\([*_<>|])/g, '$1');
}

type Target = { kind: 'outside' } | { kind: 'inside'; file: string; anchor: string };

function targetOf(from: string, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return { kind: 'outside' };
  const [path = '', anchor = ''] = href.split('#', 2);
  if (path === '') return { kind: 'inside', file: from, anchor };
  const file = posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path))).replace(/\/$/, '');
  return { kind: 'inside', file, anchor };
}

export function deadLinks(root: string, files: ReadonlyMap<string, MarkdownFile>): string[] {
  return [...files].flatMap(([from, { links }]) =>
    links.flatMap(({ href, line }) => {
      const at = `${from}:${line}: ${href}`;
      const target = targetOf(from, href);
      if (target.kind === 'outside') return [];
      if (target.file.startsWith('..')) return [`${at}: leads out of the repository`];
      if (!existsSync(join(root, target.file))) return [`${at}: no such file`];
      const page = [target.file, posix.join(target.file, 'README.md')].find((file) => files.has(file));
      if (target.anchor === '' || page === undefined) return [];
      const isThere = files.get(page)?.headings.some(({ anchor }) => anchor === target.anchor);
      return isThere === true ? [] : [`${at}: ${page} has no such heading`];
    }),
  );
}

/** A page has one title, at its top, and its headings go down one level at a time. */
export function headingProblems(file: string, { headings }: MarkdownFile): string[] {
  const [first] = headings;
  if (first?.level !== 1) return [`${file}: does not start with a title`];
  return headings.slice(1).flatMap(({ level, text, line }, index) => {
    if (level === 1) return [`${file}:${line}: a second title: ${text}`];
    const above = headings[index]?.level ?? 1;
    return level > above + 1 ? [`${file}:${line}: ${text} skips a level`] : [];
  });
}

/** Every page must be linked: from the home page, or from the index of its folder. */
export function unreachedPages(pages: readonly string[], files: ReadonlyMap<string, MarkdownFile>): string[] {
  const isLinked = (file: string, from: string): boolean =>
    files.get(from)?.links.some(({ href }) => {
      const target = targetOf(from, href);
      return target.kind === 'inside' && target.file === file;
    }) === true;
  return pages
    .filter((file) => file !== home && !isLinked(file, home))
    .filter((file) => !isLinked(file, posix.join(posix.dirname(file), 'README.md')))
    .map((file) => `${file} is linked neither in ${home} nor in the README of its folder`);
}

function referenceDrift(): string[] {
  const generator = join(repository, 'docs/reference/generate/write-reference.ts');
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  return status === 0 ? [] : [stderr.trim()];
}

if (import.meta.main) {
  const files = readAll(repository);
  const pages = [...files.keys()].filter(
    (file) => file.startsWith('docs/') || ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].includes(file),
  );
  const problems = [
    ...deadLinks(repository, files),
    ...pages.flatMap((file) => headingProblems(file, files.get(file) ?? { headings: [], links: [] })),
    ...unreachedPages(pages, files),
    ...referenceDrift(),
  ];
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${files.size} files, ${pages.length} pages, ${problems.length} problems\n`);
  if (problems.length > 0) process.exitCode = 1;
}
