// A remedy must not name a command that does not exist: every command in a message is looked up in the program itself.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { phaseNamed } from '../features/tracker/ticket-phase.ts';
import { type DescribedVerb, everyVerb } from './describe-program.ts';
import { describeSvc } from './describe-svc.ts';

const packages = join(import.meta.dirname, '../../..');
const sources = globSync(join(packages, '{core,monitor,dashboard,demo}/src/**/*.{ts,tsx}')).filter(
  (file) => !/\.test\.tsx?$|\/testing\//.test(file),
);
/** `Run: svc monitor start`, `… (svc attention)`. */
const named = /(?:: |\()svc ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/g;

/** In a skill: `svc receipt <ticket>`, a line of a script, svc('events', 'list'. */
const skills = globSync(join(packages, '../examples/skills/*/*'));
const namedInSkill =
  /(?:`|^|\$\(|\b(?:then|if) )svc ([a-z][^`\n)]*)|\bsvc\(\s*('[a-z-]+'(?:,\s*'[a-z-]+')*)/gm;

/** Where a sentence goes on with what svc itself does. */
const sentences = new Set(['does', 'keeps', 'needs', 'sends', 'started', 'writes']);

const verbs = new Map(everyVerb(await describeSvc()).map((verb) => [verb.path.join(' '), verb]));

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

test('every command, option and phase in a skill exists', () => {
  const commands = skills.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(namedInSkill)].map(([, written, quoted = '']) => ({
      words: (written ?? quoted.replaceAll(/[',]/g, ' ')).trim().split(/\s+/),
      file: relative(packages, file),
    })),
  );
  expect(commands.length).toBeGreaterThan(40);
  expect(commands.filter(({ words }) => !isWhole(words))).toEqual([]);
});

/** With its options, and the phase that it reports. */
function isWhole(words: readonly string[]): boolean {
  const path = words.filter((word) => /^[a-z][a-z-]*$/.test(word));
  const verb = verbs.get(path.slice(0, 2).join(' ')) ?? verbs.get(path[0] ?? '');
  const options = words.filter((word) => word.startsWith('--'));
  const [, , phase = ''] = words;
  return (
    isThere(path) &&
    options.every((option) => verb?.options.some(({ long }) => long === option)) &&
    (verb?.path.join(' ') !== 'ticket phase' || phaseNamed(phase).ok)
  );
}

test.each([
  ['ticket phase research', true],
  ['ticket phase nap', false],
  ['receipt <ticket> --json', true],
  ['receipt <ticket> --jsom', false],
  ['events wait <ticket>', false],
])('in a skill, svc %s: %s', (command, there) => {
  expect(isWhole(command.split(' '))).toBe(there);
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
