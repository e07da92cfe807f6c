import { expect, test } from 'vitest';
import { doctorFinding, doctorVerdict, doctorVerdictWords, inDoctorOrder } from './finding.ts';
import { judgeDisk, LITTLE_ROOM, NO_ROOM } from './judge-disk.ts';

test('the worst first, then by part; the same words once, in their worst grade', () => {
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
  [[], 'Nothing is wrong.', true],
  [['ok'], 'Nothing is wrong.', true],
  [['warning'], '1 warning.', true],
  [['unknown', 'warning', 'warning'], '2 warnings, 1 unknown.', true],
  [['broken', 'warning'], '1 broken, 1 warning.', false],
] as const)('%j: %s', (grades, words, ok) => {
  const verdict = doctorVerdict(grades.map((grade) => doctorFinding('log', grade, grade)));
  expect([doctorVerdictWords(verdict), verdict.ok]).toEqual([words, ok]);
});

test.each([
  [LITTLE_ROOM, 'ok'],
  [LITTLE_ROOM - 1, 'warning'],
  [NO_ROOM, 'warning'],
  [NO_ROOM - 1, 'broken'],
  [0, 'broken'],
])('%i bytes free are %s', (bytes, grade) => {
  expect(judgeDisk('/data', bytes).grade).toBe(grade);
});
