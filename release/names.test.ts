// Every command or import of a package in a text has a name that we publish, or one that we know to be another's: on the
// registry a wrong name is somebody else's program.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { knownAgents } from '../packages/monitor/src/features/agents/choice.ts';
import { packages } from './packages.ts';
import { root } from './versions.ts';

const COMMAND =
  /(?<![\w-])(?:npx|npm (?:install|i|uninstall|exec|view|deprecate|unpublish|dist-tag add))(?: -[\w-]*)* ((?:@[\w.-]+\/)?[A-Za-z][\w.-]*)/g;
const IMPORT = /\bfrom '([^'.][^']*)'/g;

/** The packages in the commands of a text and, in a page, in its imports. */
function namedIn(path: string, text: string): string[] {
  const shapes = path.endsWith('.md') ? [COMMAND, IMPORT] : [COMMAND];
  return shapes.flatMap((shape) => [...text.matchAll(shape)].map(([, name = '']) => name));
}

const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const known = new Set([
  ...packages.map(({ name }) => name),
  // Tools of a clone, and the agents that a user may choose.
  ...Object.keys(devDependencies),
  // In the page that adds a feature.
  'zod',
  ...knownAgents({ agents: {} }).flatMap(({ install }) => namedIn('', install ?? '')),
]);

it('every package that a text, a message or an example names is published, or is known to be another’s', () => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter((path) => /\.(?:md|tsx?|mjs|sh|txt|ya?ml|service|json)$|^bin\/|^\.ci\/|Containerfile$/.test(path))
    .filter((path) => !/package-lock\.json$|^release\/names\.test\.ts$/.test(path));
  const named = files.flatMap((path) =>
    namedIn(path, readFileSync(join(root, path), 'utf8')).map((name) => ({ path, name })),
  );
  expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  const places = named.filter(({ path }) => /^(?:README|docs\/guide\/install)\.md$/.test(path));
  expect(new Set(places.map(({ name }) => name))).toEqual(new Set(['svc-monitor']));
});

test.each([
  ['README.md', 'npx svc demo', ['svc']],
  ['README.md', 'npx --yes svc-monitor@1.2.3 demo', ['svc-monitor']],
  ['README.md', 'run npm install --global @svc/client, or npm exec -- svc', ['@svc/client', 'svc']],
  ['README.md', "import { createClient } from '@svc/client';", ['@svc/client']],
  ['x.ts', "import { createClient } from '@svc/client';", []],
  ['x.ts', 'pnpm install svc', []],
])('%s: %s', (path, text, names) => expect(namedIn(path, text)).toEqual(names));
