// What a check of a project's setup found: one finding is one line for a person and one object for a program.
import type { ConfigProblem } from '../config/problems.ts';

/** In the order in which they are checked. */
export const setupChecks = [
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

export type SetupCheck = (typeof setupChecks)[number];

/** A warning is to be known of and stops nothing; with an error the project does not work. */
export type SetupLevel = 'ok' | 'warning' | 'error';

export type SetupFinding = {
  check: SetupCheck;
  level: SetupLevel;
  found: string;
  /** What mends it, with the command where there is one. */
  remedy?: string;
  /** Where the finding is a problem of the configuration: its file, line and key. */
  problem?: Pick<ConfigProblem, 'code' | 'file' | 'line' | 'key'>;
};

export type SetupVerdict = { ok: boolean; warnings: number; errors: number };

export function setupVerdict(findings: readonly SetupFinding[]): SetupVerdict {
  const count = (level: SetupLevel): number => findings.filter((finding) => finding.level === level).length;
  return { ok: count('error') === 0, warnings: count('warning'), errors: count('error') };
}
