import { expect, it, test } from 'vitest';
import { dependencyProblems, importedPackages } from './check-tarball.ts';

test.each([
  ["import fastify from 'fastify';", ['fastify']],
  ["import '@scope/a/deep/file.js';", ['@scope/a']],
  ["export { x } from 'b'; export * from 'c';", ['b', 'c']],
  ["const later = () => import('d');", ['d']],
  ["const e = __require('e'); function f() { return require('f/package.json'); }", ['e', 'f']],
  ["import fs from 'fs'; import 'node:path'; require('os'); import './x.js'; import '#own';", []],
  ["const text = \"import x from 'g'\"; // import 'h'", []],
  ['const some = (name) => import(name);', []],
])('%s imports %j', (source, packages) => {
  expect([...importedPackages('x.js', source)].toSorted()).toEqual(packages);
});

it('reads types too', () => {
  const source = "import type { A } from 'a'; export type B = import('b').B;";
  expect([...importedPackages('x.d.ts', source)]).toEqual(['a', 'b']);
});

it('names the file that it cannot parse', () => {
  expect(() => importedPackages('x.js', 'const = 1')).toThrow('x.js cannot be parsed');
});

it('compares declared and imported packages', () => {
  const peersOf = (name: string) => (name === 'sdk' ? ['sdk-types'] : []);
  const problems = (imported: string[], declared: string[]) =>
    dependencyProblems({ imported: new Set(imported), declared: new Set(declared), peersOf });
  expect(problems(['a', 'sdk'], ['a', 'sdk', 'sdk-types'])).toEqual([]);
  expect(problems(['a', 'b'], ['a'])).toEqual(['b is imported but not declared']);
  expect(problems(['a'], ['a', 'sdk-types'])).toEqual(['sdk-types is declared but not imported']);
});
