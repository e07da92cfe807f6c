// The self-check of the daemon, and all checks of `svc doctor`.
import { z } from 'zod';
import { type CheckVerdict, checkGrades, type DoctorFinding, doctorParts } from '../checks/finding.ts';
import { apiRoute, noFields, Seq, text } from './route.ts';

const why = { why: z.string(), remedy: z.string().nullable() };
export type TriedDelivery = z.infer<typeof Tried>;
const Tried = z.union([
  z.object({ feed: z.string(), ok: z.literal(true), milliseconds: z.number() }),
  z.object({ feed: z.string(), ok: z.literal(false), disabled: z.boolean(), ...why }),
]);

export type SelfCheck = z.infer<typeof SelfCheck>;
const SelfCheck = z
  .object({
    log: z.union([
      z.object({ ok: z.literal(true), seq: Seq, milliseconds: z.number() }),
      z.object({ ok: z.literal(false), step: z.enum(['write', 'index', 'file']), ...why }),
    ]),
    receivers: z.array(Tried),
    providers: z.object({
      enabled: z.boolean(),
      present: z.array(z.string()),
      missing: z.array(z.object({ provider: z.string(), variable: z.string() })),
    }),
  })
  .meta({ id: 'SelfCheck' });

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
    findings: z.array(
      z.object({
        part: z.enum(doctorParts),
        grade: z.enum(checkGrades),
        what: z.string(),
        evidence: z.string().nullable(),
        remedy: z.string().nullable(),
        fixable: z.boolean().describe('`svc doctor --fix` mends it'),
      }),
    ),
    fixed: z.array(Fixed).describe('What --fix mended; the daemon only looks'),
  })
  .meta({ id: 'DoctorReport' }) satisfies z.ZodType<CheckVerdict & { findings: DoctorFinding[] }>;

export const doctorRoutes = {
  checkDaemon: apiRoute({
    method: 'POST',
    path: '/api/doctor',
    tag: 'doctor',
    summary: 'The daemon tries itself: a line written and read back, a delivery to each receiver',
    verbs: ['svc doctor', 'svc init'],
    body: z.strictObject({ by: text(100).optional().describe('who asks for it') }),
    answer: SelfCheck,
    failures: ['usage'],
  }),
  runDoctor: apiRoute({
    method: 'POST',
    path: '/api/doctor/run',
    tag: 'doctor',
    summary: 'Everything that `svc doctor` looks at, as it prints it',
    body: noFields,
    answer: DoctorReport,
    failures: ['usage', 'busy', 'start-failed', 'not-in-this-version'],
  }),
};
