import { expect, test } from 'vitest';
import { entry, roff, synopsis, verbatim } from './roff.ts';

test.each([
  ['plain words', 'plain words'],
  ['a\\b', 'a\\eb'],
  ['--json', '\\-\\-json'],
  ['.svc/config.json', '\\&.svc/config.json'],
  ["'quoted'", '\\(aqquoted\\(aq'],
  ['say "yes"', 'say \\(dqyes\\(dq'],
  ['`x` ^ ~/y', '\\(gax\\(ga \\(ha \\(ti/y'],
  ['people’s … 🙂', 'people\\[u2019]s \\[u2026] \\[u1F642]'],
  ['two\nlines\tand a tab', 'two lines and a tab'],
  ['\\fBnot bold\\fR', '\\efBnot bold\\efR'],
  ['', ''],
])('%j', (text, expected) => {
  expect(roff(text)).toBe(expected);
});

test('a line of code that begins with a dot or a quote stays a line', () => {
  expect(verbatim(['.TH X', "'br"])).toEqual(['.PP', '.RS 4', '.EX', '\\&.TH X', '\\(aqbr', '.EE', '.RE']);
  expect(verbatim([])).toEqual([]);
});

test('what is typed as it stands is bold, what is filled in is not', () => {
  expect(synopsis('svc config set [options] <key>')).toBe(
    '\\fBsvc config set\\fR \\fI[options]\\fR \\fI<key>\\fR',
  );
  expect(synopsis('-V, --version')).toBe('\\fB\\-V, \\-\\-version\\fR');
  expect(entry(synopsis('--add-repo <owner/repo...>'), '.x')).toEqual([
    '.TP',
    '\\fB\\-\\-add\\-repo\\fR \\fI<owner/repo...>\\fR',
    '\\&.x',
  ]);
});
