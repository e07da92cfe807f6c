// What is wrong in the Markdown files themselves, as a code host shows them: links to files, folders and headings that
// are not there, and headings that skip a level. Addresses of other sites are not asked for.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { pageAt, targetOf } from './addresses.ts';
import { type Heading, type MarkdownFile, readMarkdown } from './markdown-file.ts';
import { home, indexedFolders, sections } from './navigation.ts';

const notOurs = new Set(['node_modules', 'dist', 'coverage', '.git', 'screenshots']);

/** Every Markdown file of the repository, read. */
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

/** A page has one title, at its top, and goes down one level at a time. */
export function headingProblems(file: string, { headings }: MarkdownFile): string[] {
  const [first] = headings;
  if (first?.level !== 1) return [`${file}: begins with no title`];
  return headings.slice(1).flatMap(({ level, text, line }, index) => {
    if (level === 1) return [`${file}:${line}: a second title: ${text}`];
    const above = headings[index]?.level ?? 1;
    return level > above + 1 ? [`${file}:${line}: ${text} skips a level`] : [];
  });
}

/** Every page can be reached from the side, or from the index of its folder; every place there is a page. */
export function navigationProblems(
  pages: ReadonlySet<string>,
  files: ReadonlyMap<string, MarkdownFile>,
): string[] {
  const listed = new Set([home, ...sections.flatMap((section) => section.pages.map(({ file }) => file))]);
  const indexed = (file: string): boolean =>
    indexedFolders.some(
      ({ folder, index }) =>
        file.startsWith(folder) &&
        files.get(index)?.links.some(({ href }) => {
          const target = targetOf(index, href);
          return target.kind === 'file' && target.file === file;
        }) === true,
    );
  return [
    ...[...listed]
      .filter((file) => !pages.has(file))
      .map((file) => `navigation.ts names ${file}, which is not there`),
    ...[...pages]
      .filter((file) => !listed.has(file) && !indexed(file))
      .map((file) => `${file} is in no section of docs/site/navigation.ts`),
  ];
}
