// A problem of the configuration as a finding, at the check that it belongs to.
import { type ConfigProblem, reportProblem } from '../config/problems.ts';
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
  const { code, file, line, key } = problem;
  const { severity, text, remedy } = reportProblem(problem);
  return {
    check: checkOfProblem(problem),
    level: severity === 'error' ? 'error' : 'warning',
    found: text,
    remedy,
    problem: { code, file, line, key },
  };
}
