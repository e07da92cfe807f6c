// A problem of the configuration as a finding, at the check that it belongs to.
import { type ConfigProblem, formatProblem } from '../config/problems.ts';
import { canonicalKey } from '../vendor-names.ts';
import type { SetupCheck, SetupFinding } from './finding.ts';

const checkOfKey: readonly (readonly [key: string, check: SetupCheck])[] = [
  ['svc.projectKey', 'project-key'],
  ['svc.project.ticketPrefix', 'ticket-prefix'],
  ['svc.tracker.teamKey', 'ticket-prefix'],
  ['svc.tracker.stateMap', 'state-map'],
  ['svc.tracker.stateIds', 'state-ids'],
  ['svc.tracker.teamId', 'state-ids'],
];

export function checkOfProblem({ key, code }: ConfigProblem): SetupCheck {
  if (code === 'secret-in-project-file') return 'configuration';
  const canonical = canonicalKey(key);
  const home = checkOfKey.find(([start]) => canonical === start || canonical.startsWith(`${start}.`));
  return home?.[1] ?? 'configuration';
}

export function problemFinding(problem: ConfigProblem): SetupFinding {
  const { severity, code, file, line, key } = problem;
  return {
    check: checkOfProblem(problem),
    level: severity === 'error' ? 'error' : 'warning',
    found: formatProblem({ ...problem, remedy: undefined }),
    remedy: problem.remedy ?? remedyFor(problem),
    problem: { code, file, line, key },
  };
}

function remedyFor({ severity, key }: ConfigProblem): string {
  if (key === '') return 'Mend the file, then run: svc config validate';
  if (severity !== 'error') return 'Remove it from the file.';
  return isPlainWord(key) ? `What belongs there: svc config explain ${key}` : 'Run: svc config validate';
}

/** Fit for a command that a person may copy as it stands. */
export function isPlainWord(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text);
}
