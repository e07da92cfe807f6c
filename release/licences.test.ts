import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { isAllowed, type Lock, licenceProblems, shippedOf } from './licences.ts';

test.each([
  ['MIT', true],
  ['Apache-2.0', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['GPL-3.0-only OR CC0-1.0', true],
  ['MIT AND ISC', true],
  ['MIT AND GPL-3.0-only', false],
  ['(MIT OR ISC) AND GPL-3.0-only', false],
  ['MIT OR ISC AND GPL-3.0-only', false],
  ['GPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE.txt', false],
  ['UNLICENSED', false],
  ['mit', false],
  ['', false],
])('%s: %s', (expression, allowed) => expect(isAllowed(expression)).toBe(allowed));

describe('a package that ships', () => {
  const problems = (name: string, licence: string | undefined) =>
    licenceProblems([{ name, version: '1.2.3', licence }]);

  it.each([
    [undefined, 'x 1.2.3 has no licence'],
    [' ', 'x 1.2.3 has no licence'],
    ['SSPL-1.0', 'x 1.2.3 has the licence SSPL-1.0'],
  ])('with the licence %s is reported', (licence, words) => {
    expect(problems('x', licence)).toEqual([expect.stringContaining(words)]);
  });

  it('may be an exception, only for the reviewed licence', () => {
    expect(problems('@fontsource-variable/inter', 'OFL-1.1')).toEqual([]);
    expect(problems('@fontsource-variable/inter', 'GPL-2.0-only')).toHaveLength(1);
    expect(problems('some-other-font', 'OFL-1.1')).toHaveLength(1);
  });
});

describe('the lock file', () => {
  it('ships everything but development dependencies, under its own name', () => {
    const lock: Lock = {
      packages: {
        '': { version: '1.0.0' },
        'packages/svc': { version: '1.0.0' },
        'node_modules/svc-monitor': { link: true },
        'node_modules/@scope/a': { version: '1.1.0', license: 'MIT' },
        'node_modules/@scope/a/node_modules/b': { version: '1.2.0' },
        'node_modules/alias': { name: 'real', version: '1.3.0', license: 'ISC' },
        'node_modules/tool': { version: '1.4.0', dev: true, license: 'GPL-3.0-only' },
      },
    };
    expect(shippedOf(lock)).toEqual([
      { name: '@scope/a', version: '1.1.0', licence: 'MIT' },
      { name: 'b', version: '1.2.0', licence: undefined },
      { name: 'real', version: '1.3.0', licence: 'ISC' },
    ]);
  });

  it('of this repository has only licences that may ship', () => {
    const lock = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8'),
    ) as Lock;
    expect(shippedOf(lock).length).toBeGreaterThan(20);
    expect(licenceProblems(shippedOf(lock))).toEqual([]);
  });
});
