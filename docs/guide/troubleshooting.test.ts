// The troubleshooting page can be searched for the text on the screen: it has every problem that the doctor reports, every
// part that it checks, and every reason for attention.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reasonTexts } from '../../packages/monitor/src/features/attention/reason-words.ts';
import { doctorParts } from '../../packages/monitor/src/kernel/check/finding.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(import.meta.dirname, 'troubleshooting.md'), 'utf8');
const attention = readFileSync(join(root, 'docs/reference/attention.md'), 'utf8');

const sources = globSync('packages/monitor/src/**/*.ts', { cwd: root })
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

/** The sources that raise attention items, or list why a worker needs a person, and the reasons in them. */
const raising = sources.filter(
  (text) =>
    (/'comms\.attention'[,;]/.test(text) && /draft\(|event: /.test(text)) ||
    text.includes('export const workerReasons:'),
);
const reasonsIn = (text: string): string[] =>
  [
    // A row of the worker's own reasons, a constant, a field, an argument, a table by an agent's state.
    /^ {2}\['([a-z]+(?:-[a-z]+)+)', /gm,
    /^const \w+ = '([a-z]+(?:-[a-z]+)+)';/gm,
    /\breason: '([a-z]+(?:-[a-z]+)+)'/g,
    /raised\(act, '([a-z-]+)'/g,
    /^ {2}'needs-[a-z]+': '([a-z-]+)',/gm,
    /`((?:rule|policy)-[a-z-]*\$\{[^`]+)`/g,
  ]
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
    .map((name) => name.replace(/\$\{rule\}/, '<name>').replace(/\$\{repo\..*\}/, '<repo>'));
const typed = sources.flatMap((text) =>
  [...text.matchAll(/type (?:Deploy)?Reason = ([^;]+);/g)].flatMap(([, names = '']) =>
    [...names.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name),
  ),
);
const reasons = [...new Set([...typed, ...raising.flatMap(reasonsIn)])];

test('the sources are still read', () => {
  expect(pieces.length).toBeGreaterThan(25);
  // Those of feeds are a type, and those of a worker stand where they are found.
  expect(raising.filter((text) => reasonsIn(text).length === 0).length).toBe(2);
  expect(reasons.toSorted()).toEqual(
    expect.arrayContaining([
      'auth-failing',
      'deploy-timeout',
      'dispatch-failed',
      'dispatch-refused',
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

test('every reason for attention is on the page, has a row in docs/reference/attention.md, and words', () => {
  expect(reasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
  expect(reasons.filter((reason) => !attention.includes(`\n| \`${reason}\` |`))).toEqual([]);
  // Those with the name of a rule or a repository are worded by `reasonWords`.
  const fixed = reasons.filter((reason) => !reason.includes('<'));
  expect(fixed.filter((reason) => !Object.hasOwn(reasonTexts, reason))).toEqual([]);
});
