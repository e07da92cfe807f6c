// Why a ticket could not be moved, in the form by which the outbox decides: tried again, when, or given up.
import { Failure, type FailureCode } from '../errors.ts';
import { TrackerError } from './tracker-error.ts';

export class TicketNotMoved extends Failure {
  /** Trying again would change nothing: a person has to do something first. */
  readonly permanent: boolean;
  /** How long the tracker asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    remedy: string | undefined,
    options: { permanent: boolean; retryAfterMs?: number; cause?: unknown },
  ) {
    super(code, message, remedy, { cause: options.cause });
    this.name = 'TicketNotMoved';
    this.permanent = options.permanent;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** What the tracker refused for good, and what it may accept later. Anything else is a bug and stays what it is. */
export function notMovedBy(error: unknown): unknown {
  if (!(error instanceof TrackerError)) return error;
  const { problem, code, message, remedy } = error;
  switch (problem.kind) {
    case 'unauthorised':
    case 'forbidden':
    case 'not-found':
      return new TicketNotMoved(code, message, remedy, { permanent: true, cause: error });
    case 'rate-limited':
      return new TicketNotMoved(code, message, remedy, {
        permanent: false,
        retryAfterMs: problem.retryAfterMs,
        cause: error,
      });
    case 'unavailable':
    case 'malformed':
    case 'graphql':
      return new TicketNotMoved(code, message, remedy, { permanent: false, cause: error });
  }
}
