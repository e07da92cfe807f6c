import { expect, it, test } from 'vitest';
import { isText, textProblems } from './check-tarball.ts';

// Tokens are assembled from these, so that no scanner reports this file.
const letters = (count: number): string => 'aB3dE6gH9kL2'.repeat(8).slice(0, count);

test.each([
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${letters(40)}`],
  ['a code-host token', `ghp_${letters(36)}`],
  ['a code-host token', `github_pat_${letters(40)}`],
  ['a tracker token', `lin_api_${letters(40)}`],
  ['a model provider key', `sk-ant-${letters(40)}`],
  ['a cloud key', `AKIA${letters(16).toUpperCase()}`],
  ['a registry token', `npm_${letters(36)}`],
  ['a registry token', `//registry.example/:_authToken=${letters(12)}`],
  ['a chat token', `xoxb-${letters(30)}`],
  ['a signed token', `eyJ${letters(30)}.eyJ${letters(30)}.${letters(30)}`],
  ['a URL with a password', `postgres://me:${letters(9)}@db.example`],
])('%s is found, and not repeated', (kind, secret) => {
  const problems = textProblems(`one\nconst key = "${secret}";\n`, []);
  expect(problems).toEqual([`line 2 contains what looks like ${kind}`]);
});

test.each([
  'the shape of a token: /gh[ps]_[A-Za-z0-9]{36}/',
  'if (text.includes("-----BEGIN PRIVATE KEY-----"))',
  'redacted: sk-… or ghp_********',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a bundle
  'const url = `https://${user}:${password}@host`',
  '_authToken=${NPM_TOKEN}',
  'task-management-of-the-whole-organisation',
  'see https://example.com/a:b/c@d',
])('%s is not a secret', (text) => expect(textProblems(text, [])).toEqual([]));

it('finds a folder of the machine, and a link to a source map', () => {
  const text = 'a\n// /srv/build/svc/src/x.ts\n//# sourceMappingURL=x.js.map\n';
  expect(textProblems(text, ['/srv/build/svc', '/home/nobody/'])).toEqual([
    'line 2 names a folder of this machine: /srv/build/svc',
    'line 3 points to a source map',
  ]);
});

it('reads text files only', () => {
  expect(['a.js', 'README.md', 'LICENSE', 'svc.1', 'a.js.br', 'inter.woff2'].filter(isText)).toEqual([
    'a.js',
    'README.md',
    'LICENSE',
    'svc.1',
  ]);
});
