// The daemon's self-check, and all checks of `svc doctor`.
import { z } from 'zod';
import {
  type CheckVerdict,
  checkGrades,
  type DoctorFinding,
  doctorParts,
} from '../../kernel/check/finding.ts';
import { apiRoute, Time, text } from '../../kernel/http/api-route.ts';

export const Finding = z
  .object({
    part: z.enum(doctorParts),
    grade: z.enum(checkGrades),
    what: z.string(),
    since: Time.nullable().describe('Null when it is not known'),
    evidence: z.string().nullable(),
    remedy: z.string().nullable(),
    fixable: z
      .boolean()
      .describe('a safe repair may fix it: `svc doctor --fix`, or `fix` of POST /api/doctor/run'),
  })
  .meta({ id: 'Finding' }) satisfies z.ZodType<DoctorFinding>;

const Fixed = z.object({
  part: z.enum(doctorParts),
  what: z.string(),
  done: z.string().nullable(),
  failed: z.string().nullable(),
});

const DoctorReport = z
  .object({
    ok: z.boolean().describe('Nothing is broken'),
    broken: z.int(),
    warnings: z.int(),
    unknown: z.int(),
    findings: z.array(Finding),
    fixed: z.array(Fixed).describe('What was repaired; empty unless it was asked for'),
  })
  .meta({ id: 'DoctorReport' }) satisfies z.ZodType<CheckVerdict>;

export const doctorRoutes = {
  checkDaemon: apiRoute({
    method: 'POST',
    path: '/api/doctor',
    tag: 'doctor',
    summary: 'Check the daemon itself: write an event and read it back, send each receiver a delivery',
    verbs: ['svc doctor', 'svc init'],
    body: z.strictObject({ by: text(100).optional().describe('who runs the check') }),
    answer: z.object({ findings: z.array(Finding) }).meta({ id: 'SelfCheck' }),
    failures: ['usage'],
  }),
  runDoctor: apiRoute({
    method: 'POST',
    path: '/api/doctor/run',
    tag: 'doctor',
    summary:
      'Run every check of `svc doctor` and return its report; with `fix`, repair fixable findings first',
    body: z.strictObject({
      fix: z
        .array(z.strictObject({ part: z.enum(doctorParts), what: text(2_000) }))
        .max(100)
        .default([])
        .describe('fixable findings of an earlier report; those that no longer hold are left alone'),
    }),
    answer: DoctorReport,
    failures: ['usage', 'busy', 'start-failed', 'not-in-this-version'],
  }),
};
