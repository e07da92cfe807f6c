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
