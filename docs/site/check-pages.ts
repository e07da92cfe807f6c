// What is wrong in the built site: a link, image or anchor that leads nowhere, and anything that would be fetched from
// another site.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

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
  // A page that is gone is missed by every other one: it is told once.
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
  if (!existsSync(join(site, to))) return `${to} is not there`;
  const page = pages.get(to);
  if (anchor === '' || page === undefined || page.ids.has(decodeURIComponent(anchor))) return undefined;
  return `${to}#${anchor} has no such heading`;
}

/** The pages are our own: text has its quotes escaped, so that an attribute cannot be mistaken. */
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
