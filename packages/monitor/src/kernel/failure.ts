// Every failure that a person or a program may have to handle: its code, the exit code of the CLI, the HTTP status, and
// the fix (`remedy`). A bug throws something else.
import { systemErrorCode } from '@svc/lib/errors';
import { reasonOf, Unreadable } from '@svc/lib/paths';
import type { ApiFailureCode, apiFailureStatus } from './http/failures.ts';

/** A code that the API description also has must have the same status there. */
type Described = {
  [Code in ApiFailureCode]?: { exit: number; status: (typeof apiFailureStatus)[Code] };
};

const failures = {
  usage: { exit: 2, status: 400 },
  'filter-too-slow': { exit: 2, status: 400 },
  'filter-too-large': { exit: 2, status: 400 },
  'config-invalid': { exit: 4, status: 409 },
  'not-in-this-version': { exit: 6, status: 501 },
  'relay-unavailable': { exit: 6, status: 502 },
  'log-not-writable': { exit: 6, status: 503 },
  'file-busy': { exit: 6, status: 503 },
  busy: { exit: 6, status: 503 },
  'file-unusable': { exit: 6, status: 500 },
  'daemon-refused': { exit: 6, status: 502 },
  'feed-blind': { exit: 3, status: 503 },
  'daemon-needed': { exit: 5, status: 503 },
  'already-running': { exit: 6, status: 409 },
  'port-taken': { exit: 6, status: 503 },
  'not-answering': { exit: 6, status: 503 },
  'start-failed': { exit: 6, status: 500 },
  'not-ready': { exit: 6, status: 409 },
  'stop-failed': { exit: 6, status: 500 },
  'not-configured': { exit: 4, status: 503 },
  'tracker-refused-token': { exit: 6, status: 502 },
  'tracker-quota-used-up': { exit: 6, status: 503 },
  'tracker-unavailable': { exit: 6, status: 502 },
  'tracker-error': { exit: 6, status: 502 },
  'not-filed': { exit: 6, status: 502 },
  'registered-elsewhere': { exit: 2, status: 409 },
  'not-registered': { exit: 1, status: 404 },
  'unknown-ticket': { exit: 1, status: 404 },
  'unknown-attention': { exit: 1, status: 404 },
  'unknown-run': { exit: 1, status: 404 },
  'unknown-project': { exit: 1, status: 404 },
  'unknown-effect': { exit: 1, status: 404 },
  'unknown-rule': { exit: 1, status: 404 },
  'unknown-code': { exit: 1, status: 401 },
  'wrong-hook-token': { exit: 6, status: 401 },
  'too-many-requests': { exit: 6, status: 429 },
  'provider-failed': { exit: 6, status: 502 },
  'provider-timed-out': { exit: 6, status: 504 },
  'not-allowed-now': { exit: 1, status: 409 },
  'state-not-ready': { exit: 6, status: 503 },
  'backend-failed': { exit: 6, status: 502 },
  'backend-slow': { exit: 6, status: 504 },
} as const satisfies Described & Record<string, { exit: number; status: number }>;

export type FailureCode = keyof typeof failures;
export const failureCodes = Object.keys(failures) as FailureCode[];

export function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(failures, code);
}

export class Failure extends Error {
  readonly code: FailureCode;
  readonly remedy: string | undefined;
  /** When it may be tried again, if that is known. */
  readonly retryAfterSec: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    remedy?: string,
    { retryAfterMs, ...options }: ErrorOptions & { retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
    this.remedy = remedy;
    this.retryAfterSec = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
  }

  get exitCode(): number {
    return failures[this.code].exit;
  }

  get status(): number {
    return failures[this.code].status;
  }
}

/** A file that cannot be used is not a bug. */
export function asFailure(error: unknown): unknown {
  const code = systemErrorCode(error);
  if (code === undefined || !(error instanceof Unreadable || hasPath(error))) return error;
  const message = error instanceof Unreadable ? error.message : `${error.path} ${unusable(error, code)}`;
  const remedy = 'Make it a file or folder that you can read and write, then try again.';
  return new Failure('file-unusable', message, remedy, { cause: error });
}

/** It may have been read or written. */
function unusable(error: Error, code: string): string {
  return code === 'ELOOP' ? reasonOf(error) : `cannot be used (${error.message.split(', ', 1)[0]}).`;
}

function hasPath(error: unknown): error is Error & { path: string } {
  return (
    error instanceof Error && 'path' in error && typeof error.path === 'string' && !('spawnargs' in error)
  );
}
