// What the doctor found of one part: how it is, by what it was seen, and what mends it. A part that is as it
// should be has a finding too; only the others are shown to a person.

/** In the order in which they are told. */
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
  'code-host',
  'tracker',
  'clock',
  'providers',
  'telemetry',
  'worktrees',
  'version',
] as const;

export type DoctorPart = (typeof doctorParts)[number];

/** `broken`: it does not do its work. `warning`: it does, but not for ever or not as well. `unknown`: nobody can tell now. */
export const doctorGrades = ['broken', 'warning', 'unknown', 'ok'] as const;

export type DoctorGrade = (typeof doctorGrades)[number];

export type DoctorFinding = {
  part: DoctorPart;
  grade: DoctorGrade;
  what: string;
  /** What was seen. */
  evidence: string | null;
  /** With the command, where there is one. Beside `ok`: how to turn on what nobody has set up. */
  remedy: string | null;
  /** Whether `svc doctor --fix` mends it. */
  fixable: boolean;
};

type Said = { evidence?: string | null; remedy?: string | null; fixable?: boolean };

export function doctorFinding(
  part: DoctorPart,
  grade: DoctorGrade,
  what: string,
  { evidence = null, remedy = null, fixable = false }: Said = {},
): DoctorFinding {
  return { part, grade, what, evidence, remedy, fixable };
}

/** The worst first, then by part. What two checks say in the same words is said once. */
export function inDoctorOrder<Finding extends DoctorFinding>(findings: readonly Finding[]): Finding[] {
  const place = ({ grade, part }: DoctorFinding): number =>
    doctorGrades.indexOf(grade) * doctorParts.length + doctorParts.indexOf(part);
  const sorted = findings.toSorted((one, other) => place(one) - place(other));
  const said = new Set<string>();
  return sorted.filter(({ what, grade, part }) => {
    const key = grade === 'ok' ? `${part} ${what}` : what;
    return said.has(key) ? false : said.add(key);
  });
}

export type DoctorVerdict = { ok: boolean; broken: number; warnings: number; unknown: number };

/** Warnings, and what nobody can tell, are no reason to fail. */
export function doctorVerdict(findings: readonly DoctorFinding[]): DoctorVerdict {
  const count = (grade: DoctorGrade): number => findings.filter((finding) => finding.grade === grade).length;
  const broken = count('broken');
  return { ok: broken === 0, broken, warnings: count('warning'), unknown: count('unknown') };
}

export function doctorVerdictWords({ broken, warnings, unknown }: DoctorVerdict): string {
  if (broken + warnings + unknown === 0) return 'Nothing is wrong.';
  const words = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
  ];
  return `${words.join(', ')}.`;
}
