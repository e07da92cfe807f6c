// The troubleshooting page can be searched for the text on the screen: it has every problem that the doctor reports, every
// part that it checks, and every reason for attention.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { doctorParts } from '@svc/core';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(import.meta.dirname, 'troubleshooting.md'), 'utf8');
const attention = readFileSync(join(root, 'docs/reference/attention.md'), 'utf8');

const sources = globSync('packages/{core,monitor}/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('testing'))
  .map((file) => readFileSync(join(root, file), 'utf8'));

/** `doctorFinding('port', 'broken', `port ${port} is taken…`)`: the fixed pieces of its text. */
const texts = sources.flatMap((text) =>
  [...text.matchAll(/doctorFinding\(\s*'[a-z-]+',\s*([^,]+),\s*(?:'([^']+)'|`([^`]+)`)/g)]
    .filter(([, grade]) => grade !== "'ok'")
    .map(([, , plain, template]) => plain ?? template ?? ''),
);
const pieces = [
  ...new Set(
    texts.flatMap((text) =>
      text
        .split(/\$\{[^}]*\}/)
        .map((piece) => piece.trim().replace(/:$/, ''))
        .filter((piece) => piece.split(' ').length > 2),
    ),
  ),
];

/** The reasons that the fold, feeds, runs and the outbox raise. */
const reasons = [
  ...new Set(
    sources.flatMap((text) => [
      ...(text.includes('const ownReasons')
        ? [...text.matchAll(/^ {2}\['([a-z-]+)', [a-zA-Z]+\],$/gm)].map(([, name = '']) => name)
        : []),
      ...[...text.matchAll(/type (?:Deploy)?Reason = ([^;]+);/g)].flatMap(([, names = '']) =>
        [...names.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name),
      ),
      ...[...text.matchAll(/raised\(act, '([a-z-]+)'/g)].map(([, name = '']) => name),
      ...[...text.matchAll(/reason: '([a-z]+-gave-up)'/g)].map(([, name = '']) => name),
    ]),
  ),
];

test('the sources are still read', () => {
  expect(pieces.length).toBeGreaterThan(25);
  expect(reasons.toSorted()).toEqual(
    expect.arrayContaining([
      'auth-failing',
      'deploy-timeout',
      'dispatch-failed',
      'outbox-gave-up',
      'worker-dead',
    ]),
  );
});

test('the page has every problem that the doctor reports, literally', () => {
  expect(pieces.filter((piece) => !page.includes(piece))).toEqual([]);
});

test('the page has every part that the doctor checks', () => {
  const words = (part: string): string => part.replace('-', ' ');
  expect(doctorParts.filter((part) => !page.toLowerCase().includes(words(part)))).toEqual([]);
});

test('every reason for attention is on the page and in docs/reference/attention.md', () => {
  const isOn = (text: string) => (reason: string) => text.includes(`\`${reason}\``);
  expect(reasons.filter((reason) => !isOn(page)(reason))).toEqual([]);
  expect(reasons.filter((reason) => !isOn(attention)(reason))).toEqual([]);
});
