import { doctorFinding } from '@svc/core';
import { testTerminal } from '@svc/testkit';
import { expect, test, vi } from 'vitest';
import type { DoctorResult } from './check.ts';
import { createDoctorReports } from './doctor.ts';

test('the daemon reports what svc doctor prints, also when something is broken', async () => {
  const broken: DoctorResult = { ...doctorFinding('log', 'broken', 'torn'), fix: () => Promise.resolve('') };
  const report = createDoctorReports(testTerminal(), () => Promise.resolve([broken]));
  expect(await report()).toEqual({
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
  await Promise.all([report(), report()]);
  expect(run).toHaveBeenCalledTimes(1);
  await report();
  expect(run).toHaveBeenCalledTimes(2);
});
