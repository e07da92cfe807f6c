import { describe, expect, test } from 'vitest';
import { growthOfCost } from '../../kernel/testing/growth-of-cost.ts';
import { detectSetup } from './detect-setup.ts';

const commands = (files: string[], makefile?: string) =>
  detectSetup(files, makefile).map(({ program, args }) => [program, ...args].join(' '));

test.each([
  ['package-lock.json', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm ci'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --frozen-lockfile'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun install --frozen-lockfile'],
  ['deno.lock', 'deno install --frozen'],
  ['uv.lock', 'uv sync --locked'],
  ['poetry.lock', 'poetry install --no-interaction'],
  ['pdm.lock', 'pdm install --frozen-lockfile'],
  ['Pipfile.lock', 'pipenv sync'],
  ['Cargo.lock', 'cargo fetch --locked'],
  ['go.sum', 'go mod download'],
  ['Gemfile.lock', 'bundle install'],
  ['composer.lock', 'composer install --no-interaction'],
  ['mix.lock', 'mix deps.get --check-locked'],
  ['pubspec.lock', 'dart pub get --enforce-lockfile'],
  ['packages.lock.json', 'dotnet restore --locked-mode'],
])('%s: %s', (file, command) => {
  const [found] = detectSetup(['README.md', file], undefined);
  expect([found?.program, ...(found?.args ?? [])].join(' ')).toBe(command);
  expect(found?.because).toBe(file);
  expect(found?.remedy).toContain('svc.worktree.setup');
});

test('no known file: nothing to do', () => {
  expect(detectSetup(['README.md', 'package.json', 'my-package-lock.json'], undefined)).toEqual([]);
});

test('one per language, and a newer yarn by its settings file', () => {
  expect(commands(['package-lock.json', 'pnpm-lock.yaml', 'uv.lock', 'go.sum'])).toEqual([
    'pnpm install --frozen-lockfile',
    'uv sync --locked',
    'go mod download',
  ]);
  expect(commands(['yarn.lock', '.yarnrc.yml'])).toEqual(['yarn install --immutable']);
});

describe('a Makefile', () => {
  test.each([
    'setup:',
    'all:\n\techo\nsetup: deps\n\techo',
    'setup::\n',
    'setup other: x',
    'other setup :',
    'setup:\r\n\techo',
  ])('with the target: only make setup: %j', (text) => {
    expect(commands(['Makefile', 'package-lock.json'], text)).toEqual(['make setup']);
  });

  test.each([
    '',
    'setup := x',
    'setup = x',
    'setup ::= x',
    'setup :::= x',
    '\tsetup:',
    '.PHONY: setup',
    'setup-ci:',
    'presetup:',
    '# setup:',
  ])('without it: the lockfile: %j', (text) => {
    expect(commands(['Makefile', 'package-lock.json'], text)).toEqual(['npm ci']);
  });

  test('a long line costs nothing', () => {
    const detect = (length: number) => detectSetup(['Makefile'], 'a '.repeat(length));
    expect(growthOfCost(detect, 16_000)).toBeLessThan(6);
    expect(detect(200_000)).toEqual([]);
  });
});
