// That docs:check finds problems, and that the drawing of the layers is true.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import {
  createAnchors,
  deadLinks,
  headingProblems,
  home,
  readAll,
  readMarkdown,
  unreachedPages,
} from './check-links.ts';

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
      '[![picture](b.png)](f.md)',
      '[name]: e.md',
    ].join('\n'),
  );
  expect(file.headings).toEqual([{ level: 1, text: 'The svc page', anchor: 'the-svc-page', line: 1 }]);
  expect(file.links.map(({ href }) => href)).toEqual(['x.md', 'a.md', 'b.png', 'b.png', 'f.md', 'e.md']);
});

test('a dead link is found: a file, a heading, a path out of the repository; a valid one is not reported', () => {
  const root = temporaryFolder();
  const files = {
    'README.md':
      '# One\n[a](docs/a.md#two) [b](docs/b.md) [c](docs/a.md#three) [d](../x) [e](#one) [f](#two) [g](docs/#home) [h](https://example.com/x.md)\n',
    'docs/a.md': '# A\n## Two\n',
    'docs/README.md': '# Home\n',
    'node_modules/x/README.md': '[gone](gone.md)',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(deadLinks(root, readAll(root))).toEqual([
    'README.md:2: docs/b.md: no such file',
    'README.md:2: docs/a.md#three: docs/a.md has no such heading',
    'README.md:2: ../x: leads out of the repository',
    'README.md:2: #two: README.md has no such heading',
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

test('a page without a link in an index is reported', () => {
  const files = new Map([
    [home, readMarkdown('[a](a.md)')],
    ['docs/b/README.md', readMarkdown('[c](c.md)')],
  ]);
  expect(unreachedPages([home, 'docs/a.md', 'docs/b/c.md', 'docs/lost.md'], files)).toEqual([
    'docs/lost.md is linked neither in docs/README.md nor in the README of its folder',
  ]);
});

test('the drawing has every folder of the kernel', () => {
  const drawn = readFileSync(join(import.meta.dirname, 'images/layers.svg'), 'utf8');
  const folders = readdirSync(join(import.meta.dirname, '../packages/monitor/src/kernel'), {
    withFileTypes: true,
  })
    .filter((entry) => entry.isDirectory() && entry.name !== 'testing')
    .map(({ name }) => name);
  expect(drawn).toContain(`>${folders.toSorted().join(' · ')}</text>`);
});
