// What `svc ticket phase` does to tickets, for each phase and each skill, and where they end. Of one team the ids of
// the states are cached and one phase is switched off; of the other the states are found by name.
import { type TeamKey, teams } from './workers-world.ts';

export type PhaseRow = {
  team: TeamKey;
  /** What is told one after the other. */
  phases: readonly string[];
  ends: string;
  /** What the last one answers, where it is answered at once. */
  outcome: 'moved' | 'already' | 'skipped';
};

export const phaseRows: readonly PhaseRow[] = [
  ...rowsOf('ABC', ['research', 'research-codebase', 'inProgress', 'implement-plan'], teams.ABC.work),
  ...rowsOf('ABC', ['inReview', 'create-pr', 'describe-pr'], teams.ABC.review),
  ...rowsOf('ABC', ['done', 'merge-pr'], teams.ABC.done),
  ...rowsOf('ABC', ['canceled'], teams.ABC.canceled),
  ...rowsOf('XYZ', ['create-plan', 'planning'], teams.XYZ.work),
  ...rowsOf('XYZ', ['describe-pr'], teams.XYZ.review),
  ...rowsOf('XYZ', ['merge-pr'], teams.XYZ.done),
  // Null in the map skips.
  { team: 'ABC', phases: ['planning'], ends: teams.ABC.begin, outcome: 'skipped' },
  { team: 'ABC', phases: ['inReview', 'create-plan'], ends: teams.ABC.review, outcome: 'skipped' },
  // There already.
  { team: 'ABC', phases: ['research', 'implement-plan'], ends: teams.ABC.work, outcome: 'already' },
  { team: 'XYZ', phases: ['create-pr', 'describe-pr'], ends: teams.XYZ.review, outcome: 'already' },
];

function rowsOf(team: TeamKey, phases: readonly string[], ends: string): PhaseRow[] {
  return phases.map((phase) => ({ team, phases: [phase], ends, outcome: 'moved' }));
}
