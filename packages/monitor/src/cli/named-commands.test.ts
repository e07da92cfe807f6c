// A remedy must not name a command that does not exist: every command in a message is looked up in the program itself.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { type DescribedVerb, everyVerb } from './describe-program.ts';
import { describeSvc } from './describe-svc.ts';

const packages = join(import.meta.dirname, '../../..');
const sources = globSync(join(packages, '{core,monitor,dashboard,demo}/src/**/*.{ts,tsx}')).filter(
  (file) => !/\.test\.tsx?$|\/testing\//.test(file),
);
/** `Run: svc monitor start`, `… (svc attention)`. */
const named = /(?:: |\()svc ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/g;

/** Where a sentence goes on with what svc itself does. */
const sentences = new Set(['needs', 'started', 'writes']);

const verbs = new Map(everyVerb(describeSvc()).map((verb) => [verb.path.join(' '), verb]));

/** The words after the verb itself are arguments. */
function isThere(words: readonly string[], verb: DescribedVerb | undefined = verbs.get('')): boolean {
  const [first, ...rest] = words;
  if (verb === undefined) return false;
  const below = first === undefined ? undefined : verbs.get([...verb.path, first].join(' '));
  if (below !== undefined) return isThere(rest, below);
  return verb.path.length > 0 && (verb.verbs.length === 0 || first === undefined);
}

test('every command that a message names exists', () => {
  const commands = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(named)].map(([, command = '']) => ({
      command,
      file: relative(packages, file),
    })),
  );
  expect(commands.length).toBeGreaterThan(80);
  const missing = commands.filter(({ command }) => {
    const words = command.split(' ');
    return !isThere(words) && !sentences.has(words[0] ?? '');
  });
  expect(missing).toEqual([]);
});

test.each([
  ['monitor start', true],
  ['why', true],
  ['attention', true],
  ['config explain svc', true],
  ['config get', false],
  ['nothing', false],
])('svc %s: %s', (command, there) => {
  expect(isThere(command.split(' '))).toBe(there);
});
