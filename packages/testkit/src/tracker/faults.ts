// Faults on command: what the tracker's cloud, or the way to it, does wrong with the next requests.

export type TrackerFault =
  /** 401, whatever the token. */
  | { kind: 'unauthorised' }
  /** 429 with Retry-After, as a gateway in front answers. */
  | { kind: 'too-many-requests'; retryAfter: string }
  /** 400 with the code RATELIMITED, as the API itself answers. */
  | { kind: 'rate-limited' }
  | { kind: 'server-error'; status: number }
  /** The answer comes this much later. */
  | { kind: 'slow'; ms: number }
  /** The connection ends: before the operation, after it and before the answer, or within the answer. */
  | { kind: 'cut'; when: 'before' | 'after' | 'within' }
  | { kind: 'graphql-error'; message: string; code?: string; status?: number }
  /** 200 with this text in place of the answer. */
  | { kind: 'body'; text: string }
  /** 200 with an answer of at least this size. */
  | { kind: 'huge'; bytes: number }
  | { kind: 'redirect'; to: string }
  | { kind: 'not-found'; text: string };

type Planned = { fault: TrackerFault; field: string | undefined; left: number };

export type FaultPlan = {
  /** The next request, or the next of a root field (`webhookCreate`), goes wrong; `times` of them. */
  failNext: (fault: TrackerFault, on?: { field?: string; times?: number }) => void;
  /** The fault of a request that arrives now. */
  take: (fields: readonly string[]) => TrackerFault | undefined;
  mend: () => void;
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
    mend: () => void planned.splice(0),
  };
}

// An error as the tracker words it: a message, and extensions by which a client tells the kinds apart.
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

/** The body of an answer that is nothing but one error. */
export function refusalBody(refusal: Refusal): string {
  return JSON.stringify({ errors: [{ message: refusal.message, extensions: refusal.extensions }] });
}
