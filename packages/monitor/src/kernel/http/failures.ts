// The codes of error answers, each with its status. Programs act on the code; people read `error` and `remedy`.
import { z } from 'zod';

export const apiFailureStatus = {
  usage: 400,
  'filter-too-slow': 400,
  'filter-too-large': 400,
  'bad-payload': 400,
  'no-delivery-id': 400,
  'bad-signature': 401,
  'unknown-code': 401,
  'wrong-hook-token': 401,
  'unknown-ticket': 404,
  'unknown-attention': 404,
  'unknown-run': 404,
  'unknown-project': 404,
  'unknown-effect': 404,
  'unknown-rule': 404,
  'not-allowed-now': 409,
  'already-running': 409,
  'not-ready': 409,
  'config-invalid': 409,
  'too-large': 413,
  'too-many-requests': 429,
  'file-unusable': 500,
  'start-failed': 500,
  'not-in-this-version': 501,
  'relay-unavailable': 502,
  'tracker-refused-token': 502,
  'tracker-unavailable': 502,
  'tracker-error': 502,
  'provider-failed': 502,
  'backend-failed': 502,
  'no-secret': 503,
  busy: 503,
  'file-busy': 503,
  'log-not-writable': 503,
  'state-not-ready': 503,
  'not-configured': 503,
  'tracker-quota-used-up': 503,
  'provider-timed-out': 504,
  'backend-slow': 504,
} as const;

export type ApiFailureCode = keyof typeof apiFailureStatus;

/** The body of every error answer. */
export const ApiFailure = z
  .object({
    error: z.string().describe('What is wrong, as a sentence'),
    code: z.string().describe('For programs: a stable code for the reason'),
    remedy: z.string().optional().describe('How to fix it, if there is a way; often a command'),
  })
  .meta({ id: 'Failure' });
