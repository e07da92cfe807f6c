// Faults on command: what the tracker's cloud, or the network, does wrong with the next requests.

export type TrackerFault =
  /** 401 for any token. */
  | { kind: 'unauthorised' }
  /** 429 with Retry-After, as from a gateway. */
  | { kind: 'too-many-requests'; retryAfter: string }
  /** 400 with the code RATELIMITED, as from the API itself. */
  | { kind: 'rate-limited' }
  | { kind: 'server-error'; status: number }
  /** The answer is delayed by this time. */
  | { kind: 'slow'; ms: number }
  /** The connection closes: before the operation, after it but before the answer, or within the answer. */
  | { kind: 'cut'; when: 'before' | 'after' | 'within' }
  | { kind: 'graphql-error'; message: string; code?: string; status?: number }
  /** 200 with this text instead of the answer. */
  | { kind: 'body'; text: string }
  /** 200 with an answer of at least this size. */
  | { kind: 'huge'; bytes: number }
  | { kind: 'redirect'; to: string }
  | { kind: 'not-found'; text: string };

type Planned = { fault: TrackerFault; field: string | undefined; left: number };

export type FaultPlan = {
  /** The next request, or the next for a root field (`webhookCreate`), fails; `times` of them. */
  failNext: (fault: TrackerFault, on?: { field?: string; times?: number }) => void;
  /** The fault for a request that arrives now. */
  take: (fields: readonly string[]) => TrackerFault | undefined;
  restore: () => void;
};

export function createFaultPlan(): FaultPlan {
  const planned: Planned[] = [];
  return {
    failNext(fault, { field, times = 1 } = {}) {
      planned.push({ fault, field, left: times });
    },
    take(fields) {
      const next = planned.find(
        ({ field, left }) => left > 0 && (field === undefined || fields.includes(field)),
      );
      if (!next) return undefined;
      next.left -= 1;
      return next.fault;
    },
    restore: () => void planned.splice(0),
  };
}

// An error in the tracker's format: a message, and extensions by which a client distinguishes the kinds.
const kinds = {
  INPUT_ERROR: { type: 'invalid input', statusCode: 400, userError: true },
  AUTHENTICATION_ERROR: { type: 'authentication error', statusCode: 401, userError: true },
  FORBIDDEN: { type: 'forbidden', statusCode: 403, userError: true },
  RATELIMITED: { type: 'ratelimited', statusCode: 429, userError: true },
  INTERNAL_SERVER_ERROR: { type: 'internal error', statusCode: 500, userError: false },
} as const;

export type RefusalCode = keyof typeof kinds;

export class Refusal extends Error {
  readonly extensions: Record<string, unknown>;

  constructor(code: RefusalCode, message: string, userPresentableMessage = message) {
    super(message);
    this.extensions = { code, ...kinds[code], userPresentableMessage };
  }
}

export function notFound(entity: string): Refusal {
  return new Refusal('INPUT_ERROR', `Entity not found: ${entity}`, `Could not find referenced ${entity}.`);
}

/** The body of an answer with only one error. */
export function refusalBody(refusal: Refusal): string {
  return JSON.stringify({ errors: [{ message: refusal.message, extensions: refusal.extensions }] });
}
