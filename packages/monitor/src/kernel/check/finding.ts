// What a check found: the state of a part, the evidence, and how to fix it. A healthy part has a finding too. The same
// shape for `svc doctor`, its routes, `svc init` and `check-project-setup.sh`.
import type { ConfigProblem } from '../config/problems.ts';

/** The parts that the doctor checks, in the order in which they are shown. */
export const doctorParts = [
  'daemon',
  'port',
  'configuration',
  'secrets',
  'disk',
  'log',
  'index',
  'database',
  'state',
  'outbox',
  'signals',
  'runs',
  'rules',
  'spool',
  'receiver',
  'feeds',
  'team',
  'code-host',
  'tracker',
  'clock',
  'providers',
  'telemetry',
  'worktrees',
  'hooks',
  'version',
] as const;

export type DoctorPart = (typeof doctorParts)[number];

/** What `check-project-setup.sh` checks, in this order. */
export const setupParts = [
  'project-file',
  'configuration',
  'project-key',
  'ticket-prefix',
  'state-map',
  'state-ids',
  'secrets',
  'git',
  'code-host',
  'merge-settings',
  'registration',
  'workflow-context',
  'daemon',
  'version',
] as const;

export type SetupPart = (typeof setupParts)[number];

/** `broken`: it does not work. `warning`: it works, with a flaw. `unknown`: it could not be checked. */
export const checkGrades = ['broken', 'warning', 'unknown', 'ok'] as const;

export type CheckGrade = (typeof checkGrades)[number];

export type CheckFinding<Part extends string = string> = {
  part: Part;
  grade: CheckGrade;
  what: string;
  /** ISO 8601; null: not known, or not a state that lasts. */
  since: string | null;
  evidence: string | null;
  /** With the command, if there is one. For `ok`: how to turn on what is not set up. */
  remedy: string | null;
  /** Whether a repair that is safe to run at any time may fix it: `svc doctor --fix`, and a button of the dashboard. */
  fixable: boolean;
};

export type DoctorFinding = CheckFinding<DoctorPart>;

export type SetupFinding = CheckFinding<SetupPart> & {
  /** If the finding is a configuration problem: its file, line and key. */
  problem?: Pick<ConfigProblem, 'code' | 'file' | 'line' | 'key'>;
};

type Optional = Partial<Pick<CheckFinding, 'since' | 'evidence' | 'remedy' | 'fixable'>>;

export function checkFinding<Part extends string>(
  part: Part,
  grade: CheckGrade,
  what: string,
  { since = null, evidence = null, remedy = null, fixable = false }: Optional = {},
): CheckFinding<Part> {
  return { part, grade, what, since, evidence, remedy, fixable };
}

/** Nothing is wrong, but a part can be switched on; the sizes on the disk have a remedy too. */
export function isOff({ part, grade, remedy }: Pick<DoctorFinding, 'part' | 'grade' | 'remedy'>): boolean {
  return grade === 'ok' && remedy !== null && part !== 'disk';
}

export const doctorFinding = checkFinding<DoctorPart>;
export const setupFinding = checkFinding<SetupPart>;

/** The worst first, then by part. What two processes found by the same rule is shown once. */
export function inDoctorOrder<Finding extends DoctorFinding>(findings: readonly Finding[]): Finding[] {
  const position = ({ grade, part }: DoctorFinding): number =>
    checkGrades.indexOf(grade) * doctorParts.length + doctorParts.indexOf(part);
  const sorted = findings.toSorted((one, other) => position(one) - position(other));
  const shown = new Set<string>();
  return sorted.filter(({ what, part }) => {
    const key = `${part} ${what}`;
    return shown.has(key) ? false : shown.add(key);
  });
}

export type CheckVerdict = { ok: boolean; broken: number; warnings: number; unknown: number };

/** Warnings and unknown parts do not fail the check. */
export function checkVerdict(findings: readonly CheckFinding[]): CheckVerdict {
  const count = (grade: CheckGrade): number => findings.filter((finding) => finding.grade === grade).length;
  const broken = count('broken');
  return { ok: broken === 0, broken, warnings: count('warning'), unknown: count('unknown') };
}

export function verdictWords({ broken, warnings, unknown }: CheckVerdict): string {
  if (broken + warnings + unknown === 0) return 'No problems found.';
  const words = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
  ];
  return `${words.join(', ')}.`;
}
