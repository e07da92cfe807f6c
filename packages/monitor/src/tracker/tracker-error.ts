// A problem with the tracker as a failure that a person reads: what happened, and what to do.
import type { TrackerProblem } from '@svc/core';
import { Failure, type FailureCode } from '../errors.ts';

export class TrackerError extends Failure {
  readonly problem: TrackerProblem;

  constructor(problem: TrackerProblem) {
    const { code, message, remedy } = wordsFor(problem);
    super(code, message, remedy);
    this.name = 'TrackerError';
    this.problem = problem;
  }
}

const AGAIN = 'Run the same command again later; it goes on where it stopped.';

function wordsFor(problem: TrackerProblem): { code: FailureCode; message: string; remedy: string } {
  switch (problem.kind) {
    case 'unauthorised':
      return {
        code: 'tracker-refused-token',
        message: `The issue tracker did not accept the API token: ${problem.message}.`,
        remedy:
          'Make a new API key at the tracker and store it: svc config set svc.tracker.apiToken - < token.txt',
      };
    case 'forbidden':
      return {
        code: 'tracker-refused-token',
        message: `The owner of the API token may not do this at the issue tracker: ${problem.message}.`,
        remedy:
          'Ask an admin of the tracker, or store the key of one: svc config set svc.tracker.apiToken - < token.txt',
      };
    case 'rate-limited':
      return {
        code: 'tracker-quota-used-up',
        message: `The quota of the issue tracker is used up for another ${Math.ceil(problem.retryAfterMs / 1000)} s.`,
        remedy: AGAIN,
      };
    case 'unavailable':
      return {
        code: 'tracker-unavailable',
        message: `The issue tracker cannot be used now: ${problem.message}.`,
        remedy: AGAIN,
      };
    case 'not-found':
    case 'graphql':
      return {
        code: 'tracker-error',
        message: `The issue tracker refused: ${problem.message}.`,
        remedy: 'If its words do not help, report this with: svc --version',
      };
    case 'malformed':
      return {
        code: 'tracker-error',
        message: `The issue tracker's answer cannot be understood: ${problem.message}.`,
        remedy: AGAIN,
      };
  }
}
