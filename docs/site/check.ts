// npm run docs:check: builds the site into a temporary folder and reports problems of the site, of all Markdown files and
// of the generated reference. Exit code 1 if there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, sep } from 'node:path';
import { buildSite } from './build.ts';
import {
  allPages,
  type Heading,
  home,
  type MarkdownFile,
  pageAt,
  readMarkdown,
  repository,
  targetOf,
} from './site.ts';

// Problems of the Markdown files as a code host shows them: links to missing files, folders and headings, and headings
// that skip a level. Links to other sites are not checked.

const notOurs = new Set(['node_modules', 'dist', 'coverage', '.git', 'screenshots']);

/** Reads every Markdown file of the repository. */
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

export function deadLinks(root: string, files: ReadonlyMap<string, MarkdownFile>): string[] {
  const names = new Set(files.keys());
  return [...files].flatMap(([from, { links, headings }]) =>
    links.flatMap(({ href, line }) => {
      const at = `${from}:${line}: ${href}`;
      const target = targetOf(from, href);
      if (target.kind === 'outside') return [];
      if (target.kind === 'anchor')
        return hasAnchor(headings, target.anchor) ? [] : [`${at}: no such heading`];
      if (target.file.startsWith('..')) return [`${at}: leads out of the repository`];
      if (!existsSync(join(root, target.file))) return [`${at}: no such file`];
      const page = pageAt(names, target.file);
      if (target.anchor === '' || page === undefined) return [];
      const there = files.get(page)?.headings ?? [];
      return hasAnchor(there, target.anchor) ? [] : [`${at}: ${page} has no such heading`];
    }),
  );
}

function hasAnchor(headings: readonly Heading[], anchor: string): boolean {
  return headings.some((heading) => heading.anchor === anchor);
}

/** A page has one title, at the top, and its headings skip no level. */
export function headingProblems(file: string, { headings }: MarkdownFile): string[] {
  const [first] = headings;
  if (first?.level !== 1) return [`${file}: has no title`];
  return headings.slice(1).flatMap(({ level, text, line }, index) => {
    if (level === 1) return [`${file}:${line}: a second title: ${text}`];
    const above = headings[index]?.level ?? 1;
    return level > above + 1 ? [`${file}:${line}: ${text} skips a level`] : [];
  });
}

/** Every page must be linked from the home page, which is the navigation, or from the index of its folder. */
export function unreachedPages(
  pages: ReadonlySet<string>,
  files: ReadonlyMap<string, MarkdownFile>,
): string[] {
  const isLinked = (file: string, from: string): boolean =>
    files.get(from)?.links.some(({ href }) => {
      const target = targetOf(from, href);
      return target.kind === 'file' && target.file === file;
    }) === true;
  return [...pages]
    .filter((file) => file !== home && !isLinked(file, home))
    .filter((file) => !isLinked(file, posix.join(posix.dirname(file), 'README.md')))
    .map((file) => `${file} is linked neither in ${home} nor in the README of its folder`);
}

// Problems of the built site: dead links, images and anchors, and anything loaded from another site.

type BuiltPage = { ids: Set<string>; links: string[]; loads: string[] };

export function pageProblems(site: string): string[] {
  const names = globSync('**/*.html', { cwd: site }).map((name) => name.replaceAll(sep, '/'));
  const pages = new Map(
    names.toSorted().map((name) => [name, readPage(readFileSync(join(site, name), 'utf8'))]),
  );
  if (pages.size === 0) return ['the site has no pages'];
  const foreign = [...pages].flatMap(([name, { loads }]) =>
    loads.filter((src) => /^(?:https?:)?\/\//.test(src)).map((src) => `${name}: loads ${src}`),
  );
  // A missing page is linked from every other one: report it once.
  const missed = Map.groupBy(
    [...pages].flatMap(([from, { links }]) =>
      links.flatMap((href) => {
        const problem = linkProblem(site, pages, from, href);
        return problem === undefined ? [] : [{ from, problem }];
      }),
    ),
    ({ problem }) => problem,
  );
  return [...foreign, ...[...missed].map(([problem, from]) => `${problem}: ${namesOf(from)}`)];
}

function namesOf(links: readonly { from: string }[]): string {
  const [first, ...others] = new Set(links.map(({ from }) => from));
  return `${first} links to it${others.length === 0 ? '' : `, and ${others.length} more`}`;
}

function linkProblem(
  site: string,
  pages: ReadonlyMap<string, BuiltPage>,
  from: string,
  href: string,
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined;
  const [path = '', anchor = ''] = href.split('#', 2);
  const to = path === '' ? from : posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path)));
  if (!existsSync(join(site, to))) return `${to} does not exist`;
  const page = pages.get(to);
  if (anchor === '' || page === undefined || page.ids.has(decodeURIComponent(anchor))) return undefined;
  return `${to}#${anchor} has no such heading`;
}

/** Our own pages escape quotes in text, so a pattern finds only real attributes. */
function readPage(html: string): BuiltPage {
  const values = (pattern: RegExp): string[] =>
    [...html.matchAll(pattern)].map(([, value = '']) => value.replaceAll('&amp;', '&'));
  return {
    ids: new Set(values(/\sid="([^"]*)"/g)),
    links: [...values(/<a\b[^>]*\shref="([^"]*)"/g), ...values(/<(?:img|source)\b[^>]*\ssrc="([^"]*)"/g)],
    loads: [
      ...values(/<(?:img|script|iframe|source)\b[^>]*\ssrc="([^"]*)"/g),
      ...values(/<link\b[^>]*\shref="([^"]*)"/g),
      ...values(/url\("([^"]*)"\)/g),
    ],
  };
}

if (import.meta.main) {
  const output = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  try {
    buildSite(output);
    const files = readAll(repository);
    const pages = allPages();
    const read = [...files].filter(([file]) => pages.has(file));
    const problems = [
      ...deadLinks(repository, files),
      ...read.flatMap(([file, markdown]) => headingProblems(file, markdown)),
      ...unreachedPages(pages, files),
      ...pageProblems(output),
      ...referenceDrift(),
    ];
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    process.stdout.write(`${files.size} files, ${pages.size} pages, ${problems.length} problems\n`);
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function referenceDrift(): string[] {
  const generator = join(repository, 'docs/reference/generate/write-reference.ts');
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  return status === 0 ? [] : [stderr.trim()];
}
