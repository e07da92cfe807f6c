// The rules of the site, and that its checks find problems.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { entriesOf, searchScript, tokens } from './build.ts';
import { deadLinks, headingProblems, pageProblems, readAll, unreachedPages } from './check.ts';
import { addressOf, createAnchors, home, readMarkdown, repository, sectionsOf, siteLink } from './site.ts';

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test.each([
  ['docs/README.md', 'index.html'],
  ['docs/feeds.md', 'feeds.html'],
  ['docs/relay/README.md', 'relay/index.html'],
  ['CONTRIBUTING.md', 'contributing.html'],
])('%s is at %s', (file, address) => expect(addressOf(file)).toBe(address));

describe('links lead to the same target on the site', () => {
  const pages = new Set(['docs/feeds.md', 'docs/relay/README.md', 'docs/relay/security.md', 'CHANGELOG.md']);
  test.each([
    ['docs/feeds.md', 'relay/README.md#limits', 'relay/index.html#limits'],
    ['docs/feeds.md', 'relay/', 'relay/index.html'],
    ['docs/relay/security.md', '../feeds.md', '../feeds.html'],
    ['docs/relay/security.md', '../../CHANGELOG.md', '../changelog.html'],
    ['CHANGELOG.md', 'docs/feeds.md', 'feeds.html'],
    ['docs/feeds.md', 'images/board.webp', 'images/board.webp'],
    ['docs/feeds.md', '#here', '#here'],
    ['docs/feeds.md', 'https://example.com/x.md', 'https://example.com/x.md'],
    ['docs/feeds.md', '../examples/relay/', undefined],
  ])('in %s, %s', (from, href, to) => expect(siteLink(pages, from, href)).toBe(to));
});

test('anchors are like those of the code host, and a repeated one is numbered', () => {
  const anchorOf = createAnchors();
  expect(['GET /api/board/{at}', 'What it can’t do', 'svc.tracker', 'Twice', 'Twice'].map(anchorOf)).toEqual([
    'get-apiboardat',
    'what-it-cant-do',
    'svctracker',
    'twice',
    'twice-1',
  ]);
});

test('a Markdown file: headings and links, but nothing in code', () => {
  const file = readMarkdown(
    [
      '# The `svc` [page](x.md)',
      '[`code`](a.md) and ![picture](b.png) and `[no](c.md)`',
      '```sh\n# no heading\n[no](d.md)\n```',
      '[name]: e.md',
    ].join('\n'),
  );
  expect(file.headings).toEqual([{ level: 1, text: 'The svc page', anchor: 'the-svc-page', line: 1 }]);
  expect(file.links.map(({ href, image }) => [href, image])).toEqual([
    ['x.md', false],
    ['a.md', false],
    ['b.png', true],
    ['e.md', false],
  ]);
});

test('a dead link is found: a file, a heading, a path out of the repository; a valid one is not reported', () => {
  const root = folderWith({
    'README.md':
      '# One\n[a](docs/a.md#two) [b](docs/b.md) [c](docs/a.md#three) [d](../x) [e](#one) [f](#two)\n',
    'docs/a.md': '# A\n## Two\n',
    'node_modules/x/README.md': '[gone](gone.md)',
  });
  expect(deadLinks(root, readAll(root))).toEqual([
    'README.md:2: docs/b.md: no such file',
    'README.md:2: docs/a.md#three: docs/a.md has no such heading',
    'README.md:2: ../x: leads out of the repository',
    'README.md:2: #two: no such heading',
  ]);
});

test.each([
  ['# One\n## Two\n### Three\n## Four', []],
  ['## Two', ['x.md: does not start with a title']],
  ['# One\n### Three', ['x.md:2: Three skips a level']],
  ['# One\n# Two', ['x.md:2: a second title: Two']],
])('headings of %j', (text, problems) =>
  expect(headingProblems('x.md', readMarkdown(text))).toEqual(problems),
);

test('the sections of the home page are the navigation, in its order', () => {
  const text =
    '# Home\n[no](no.md)\n## Begin\n[install](guide/install.md)\n## Empty\n## Go on\n[svc x](x.md) [y](https://y.example)\n';
  expect(sectionsOf(text)).toEqual([
    { title: 'Begin', pages: [{ file: 'docs/guide/install.md', title: 'Install' }] },
    { title: 'Go on', pages: [{ file: 'docs/x.md', title: 'svc x' }] },
  ]);
});

test('a page without a link in an index is reported', () => {
  const files = new Map([
    [home, readMarkdown('[a](a.md)')],
    ['docs/b/README.md', readMarkdown('[c](c.md)')],
  ]);
  const pages = new Set([home, 'docs/a.md', 'docs/b/c.md', 'docs/lost.md']);
  expect(unreachedPages(pages, files)).toEqual([
    'docs/lost.md is linked neither in docs/README.md nor in the README of its folder',
  ]);
});

test('a built page: dead links, and anything loaded from another site', () => {
  const site = folderWith({
    'index.html': '<h1 id="a">A</h1><a href="b.html#b">b</a><a href="b.html#c">c</a><a href="d.html">d</a>',
    'b.html':
      '<h1 id="b">B</h1><a href="d.html">d</a><img src="https://example.com/x.png"><img src="gone.svg">',
  });
  expect(pageProblems(site)).toEqual([
    'b.html: loads https://example.com/x.png',
    'd.html does not exist: b.html links to it, and 1 more',
    'gone.svg does not exist: b.html links to it',
    'b.html#c has no such heading: index.html links to it',
  ]);
});

test('the search has headings, and the rows of guide and reference', () => {
  const page = '# Page\n## Part\n| Key | What |\n| --- | --- |\n| `a\\|b` | x |\n| [c](d.md) | y |\n';
  expect(entriesOf('docs/reference/x.md', page)).toEqual([
    ['reference/x.html', 'Page', 'Page'],
    ['reference/x.html#part', 'Part', 'Page'],
    ['reference/x.html#part', 'a|b', 'Page'],
    ['reference/x.html#part', 'c', 'Page'],
  ]);
  expect(entriesOf('docs/x.md', page)).toHaveLength(2);
  expect(searchScript(new Set(['docs/guide/troubleshooting.md']))).toContain('"the daemon is not running"');
});

test('the colours are those of the dashboard, in both themes', () => {
  expect(tokens()).toMatch(
    /^:root \{\n(?:.|\n)*--ground: #f7f7f5;(?:.|\n)*prefers-color-scheme: dark(?:.|\n)*--ground: #0f1013;/,
  );
  expect(() => tokens('body {}')).toThrow('no block :root');
});

test('the drawing has every folder of the kernel', () => {
  const drawn = readFileSync(join(repository, 'docs/images/layers.svg'), 'utf8');
  const folders = readdirSync(join(repository, 'packages/monitor/src/kernel'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'testing')
    .map(({ name }) => name);
  expect(drawn).toContain(`>${folders.toSorted().join(' · ')}</text>`);
});
