import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCommand } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { describeProgram, everyVerb } from '../describe-program.ts';
import { describeSvc } from '../describe-svc.ts';
import { verb, verbGroup } from '../verb.ts';
import { exitCodes } from './exit-codes.ts';
import { manPage } from './man-page.ts';
import { environmentVariables } from './variables.ts';

const svc = { program: describeSvc(), version: '1.2.3', variables: environmentVariables() };

/** The page as man shows it, 100 columns wide, without fonts; every complaint of groff fails the test. */
function shown(page: string): string {
  const { stdout, stderr, error } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-P-cbou', '-rLL=100n'], {
    input: page,
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`groff cannot be run; install groff-base: ${error.message}`);
  expect(stderr).toBe('');
  return stdout;
}

test('svc.1 is shown without a warning, with every verb, option and example of the program', () => {
  const text = shown(manPage(svc));
  const squeezed = text.replaceAll(/\s+/g, ' ');
  for (const described of everyVerb(svc.program).filter(({ path }) => path.length > 0)) {
    const { usage, options, examples, route, verbs } = described;
    if (verbs.length > 0 && route === null) continue;
    expect(squeezed).toContain(` ${usage} `);
    for (const { flags } of options.filter(({ long }) => long !== '--help'))
      expect(squeezed).toContain(flags);
    for (const example of examples) expect(squeezed).toContain(`$ ${example.replaceAll(/\s+/g, ' ')}`);
    if (route !== null) expect(squeezed).toContain(`Route: ${route}`);
  }
  const heads = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  expect(heads).toEqual(
    expect.arrayContaining([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'VERBS',
      'CONFIG VERBS',
      'EXIT STATUS',
      'ENVIRONMENT',
      'FILES',
      'SEE ALSO',
    ]),
  );
  expect(text).toContain('svc 1.2.3');
});

test('commands can be pasted: no dash became a hyphen and no word was cut', () => {
  expect(shown(manPage(svc))).not.toMatch(/[\u2010\u2212\u00ad]/);
});

test('text that looks like roff is text', () => {
  const odd = verb('odd', {
    summary: '.TH evil \\fB "x" \'y\'',
    example: ['.so /etc/passwd', "'br", 'printf "a\\nb" \\(co --x'],
  })
    .argument('<what>', '.de trap')
    .option('--sep <text>', "'in 5 \\n[.fp]", '\\t');
  const program = createCommand('svc')
    .description('All.')
    .addCommand(odd)
    .addCommand(
      verbGroup('group', { summary: "'group", example: 'x' }, [
        verb('in', { summary: '.in', example: '.in' }),
      ]),
    );
  const text = shown(
    manPage({ program: describeProgram(program), version: '1', variables: [{ name: '.X', meaning: '\\' }] }),
  );
  for (const words of [
    '.TH evil \\fB "x" \'y\'.',
    '$ .so /etc/passwd',
    "$ 'br",
    '$ printf "a\\nb" \\(co --x',
    '.de trap',
    "'in 5 \\n[.fp] (default: \\t)",
    "'group.",
  ])
    expect(text).toContain(words);
});

test('notes keep their tables, and sentences flow', () => {
  const noted = verb('noted', { summary: 'Noted', example: 'svc noted' }).addHelpText(
    'after',
    '\nScopes:\n  read       see\n  attention  tell\n\nSee docs.',
  );
  const text = shown(
    manPage({
      program: describeProgram(createCommand('svc').addCommand(noted)),
      version: '1',
      variables: [],
    }),
  );
  expect(text).toMatch(/Scopes:\n\n +read {7}see\n +attention {2}tell\n\n +See docs\./);
});

test('the same source makes the same page, in ASCII', () => {
  expect(manPage(svc)).toBe(manPage({ ...svc, program: describeSvc() }));
  expect(manPage(svc)).toMatch(/^[\n -~]*$/);
});

test('the exit codes are those of the reference', () => {
  const page = join(import.meta.dirname, '../../../../../docs/reference/exit-codes.md');
  const codes = [...readFileSync(page, 'utf8').matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(exitCodes.map(([code]) => code)).toEqual([...new Set(codes)].toSorted((one, other) => one - other));
});

test('every variable of the machine is in it, with its default, and no name twice', () => {
  const names = svc.variables.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(svc.variables).toContainEqual({ name: 'SVC_DATA_DIR', meaning: 'Data root. Default: ~/svc' });
  expect(names).toEqual(expect.arrayContaining(['SVC_MONITOR_PORT', 'SVC_ARCHIVE_ROOT', 'NO_COLOR']));
});
