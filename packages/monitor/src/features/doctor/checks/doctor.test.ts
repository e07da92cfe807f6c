import { testTerminal } from '@svc/testkit';
import { expect, test, vi } from 'vitest';
import { type DoctorResult, fixableBy } from '../../../kernel/check/check.ts';
import { doctorFinding } from '../../../kernel/check/finding.ts';
import { Failure } from '../../../kernel/failure.ts';
import { createDoctorReports } from './doctor.ts';

const nothing = { fix: [] };

test('the daemon reports what svc doctor prints, also when something is broken', async () => {
  const broken: DoctorResult = { ...doctorFinding('log', 'broken', 'torn'), fix: () => Promise.resolve('') };
  const report = createDoctorReports(testTerminal(), () => Promise.resolve([broken]));
  expect(await report(nothing)).toEqual({
    ok: false,
    broken: 1,
    warnings: 0,
    unknown: 0,
    findings: [doctorFinding('log', 'broken', 'torn')],
    fixed: [],
  });
});

test('requests during a run get the same report; later ones a new one', async () => {
  const run = vi.fn<() => Promise<DoctorResult[]>>(() => Promise.resolve([]));
  const report = createDoctorReports(testTerminal(), run);
  await Promise.all([report(nothing), report(nothing)]);
  expect(run).toHaveBeenCalledTimes(1);
  await report(nothing);
  expect(run).toHaveBeenCalledTimes(2);
});

test('the repairs that a request names run once, one at a time, and the report is that of afterwards', async () => {
  const repaired = new Set<string>();
  const ran: string[] = [];
  const results = (): DoctorResult[] =>
    ['one', 'two', 'three'].map((what) => {
      if (repaired.has(what)) return doctorFinding('secrets', 'ok', what);
      return fixableBy(doctorFinding('secrets', 'broken', what), () => {
        ran.push(what);
        if (what === 'two') return Promise.reject(new Failure('busy', 'the disk is full', 'Free disk space'));
        repaired.add(what);
        return Promise.resolve(`repaired ${what}`);
      });
    });
  const report = createDoctorReports(testTerminal(), () => Promise.resolve(results()));
  const wanted = (...whats: string[]) => ({ fix: whats.map((what) => ({ part: 'secrets', what })) });
  const [first, same] = await Promise.all([report(wanted('one')), report(wanted('one'))]);
  expect(first).toMatchObject({ fixed: [{ what: 'one', done: 'repaired one', failed: null }], broken: 2 });
  expect(same).toEqual(first);
  expect(await report(wanted('one', 'two'))).toMatchObject({
    fixed: [{ what: 'two', done: null, failed: 'the disk is full Free disk space' }],
    broken: 2,
  });
  expect(await report(wanted('unheard of'))).toMatchObject({ fixed: [], broken: 2 });
  expect(ran).toEqual(['one', 'two']);
});
