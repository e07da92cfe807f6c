// Where a Markdown file stands on the site, and where its links lead there. Files keep their links to each other
// (`x.md`, `../README.md#part`), so that they read as well on a code host.
import { posix } from 'node:path';

/** Files outside of docs/ that are pages too. */
export const outsidePages = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'] as const;

/** The address of a file of the repository: `docs/relay/README.md` is `relay/index.html`. */
export function addressOf(file: string): string {
  const below = file.replace(/^docs\//, '');
  const { dir, name } = posix.parse(outsidePages.some((one) => one === file) ? below.toLowerCase() : below);
  return posix.join(dir, `${name === 'README' ? 'index' : name}.html`);
}

export type Target =
  | { kind: 'outside' }
  | { kind: 'anchor'; anchor: string }
  | { kind: 'file'; file: string; anchor: string };

/** What a link means that stands in a file of the repository. */
export function targetOf(from: string, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return { kind: 'outside' };
  const [path = '', anchor = ''] = href.split('#', 2);
  if (path === '') return { kind: 'anchor', anchor };
  const file = posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path))).replace(/\/$/, '');
  return { kind: 'file', file, anchor };
}

/** The page that a path means: the file itself, or the README of the folder. */
export function pageAt(pages: ReadonlySet<string>, path: string): string | undefined {
  return [path, posix.join(path, 'README.md')].find((candidate) => pages.has(candidate));
}

/** The same link on the site; undefined when it leads into the source, which the site does not have. */
export function siteLink(pages: ReadonlySet<string>, from: string, href: string): string | undefined {
  const target = targetOf(from, href);
  if (target.kind !== 'file') return href;
  const page = pageAt(pages, target.file);
  const to = page === undefined ? imageAddress(target.file) : addressOf(page);
  if (to === undefined) return undefined;
  const relative = posix.relative(posix.dirname(addressOf(from)), to);
  return target.anchor === '' ? relative : `${relative}#${target.anchor}`;
}

function imageAddress(file: string): string | undefined {
  return file.startsWith('docs/images/') ? file.replace(/^docs\//, '') : undefined;
}
