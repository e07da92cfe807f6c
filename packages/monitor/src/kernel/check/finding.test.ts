import { expect, test } from 'vitest';
import { judgeDisk, LOW_SPACE, NO_SPACE } from '../disk/judge-disk.ts';
import { checkVerdict, doctorFinding, inDoctorOrder, isOff, setupFinding, verdictWords } from './finding.ts';

test('the worst first, then by part; the same text once, with its worst grade', () => {
  const found = inDoctorOrder([
    doctorFinding('version', 'warning', 'old'),
    doctorFinding('tracker', 'ok', 'fine'),
    doctorFinding('code-host', 'warning', 'gone'),
    doctorFinding('disk', 'unknown', 'slow'),
    doctorFinding('feeds', 'broken', 'blind'),
    doctorFinding('code-host', 'broken', 'gone'),
    doctorFinding('daemon', 'broken', 'stopped'),
  ]);
  expect(found.map(({ part, grade }) => `${part} ${grade}`)).toEqual([
    'daemon broken',
    'feeds broken',
    'code-host broken',
    'version warning',
    'disk unknown',
    'tracker ok',
  ]);
});

test.each([
  [[], 'No problems found.', true],
  [['ok'], 'No problems found.', true],
  [['warning'], '1 warning.', true],
  [['unknown', 'warning', 'warning'], '2 warnings, 1 unknown.', true],
  [['broken', 'warning'], '1 broken, 1 warning.', false],
] as const)('%j: %s', (grades, words, ok) => {
  const verdict = checkVerdict(grades.map((grade) => doctorFinding('log', grade, grade)));
  expect([verdictWords(verdict), verdict.ok]).toEqual([words, ok]);
});

test.each([
  [LOW_SPACE, 'ok'],
  [LOW_SPACE - 1, 'warning'],
  [NO_SPACE, 'warning'],
  [NO_SPACE - 1, 'broken'],
  [0, 'broken'],
])('%i bytes free are %s', (bytes, grade) => {
  expect(judgeDisk('/data', { freeBytes: bytes, freeFiles: null }).grade).toBe(grade);
});

test('a broken part fails the check, a warning does not', () => {
  const verdictOf = (...grades: ('ok' | 'warning' | 'broken')[]) =>
    checkVerdict(grades.map((grade) => setupFinding('git', grade, '')));
  expect(verdictOf('ok', 'warning')).toEqual({ ok: true, broken: 0, warnings: 1, unknown: 0 });
  expect(verdictOf('broken', 'warning')).toEqual({ ok: false, broken: 1, warnings: 1, unknown: 0 });
});

test.each([
  [{ part: 'summaries', grade: 'ok', remedy: 'svc config set svc.ai.enabled true' }, true],
  [{ part: 'disk', grade: 'ok', remedy: 'svc retention' }, false],
  [{ part: 'disk', grade: 'ok', remedy: null }, false],
  [{ part: 'summaries', grade: 'warning', remedy: 'svc doctor' }, false],
] as const)('%j is off: %s', (finding, off) => expect(isOff(finding as never)).toBe(off));

test('free space is written in the unit that fits, and never rounded up', () => {
  const found = (freeBytes: number) => judgeDisk('/data', { freeBytes, freeFiles: null });
  expect(found(72_369 * 1024 ** 2).what).toBe('/data: 70.6 GiB are free');
  expect(found(600 * 1024 ** 2).evidence).toBe('600 MiB are free');
});
