// What a tunnel has seen, counted: for health, metrics, and the question whether signatures fail.
import type { FeedConditions } from '@svc/core';
import type { Settled } from './hand-over.ts';
import { createRecentCount } from './recent-count.ts';

export type DeliveryCounts = {
  accepted: number;
  duplicate: number;
  /** Wrong signature. `exact`: over the sender's bytes; `reserialised`: the relay wrote the JSON anew. */
  unauthorised: { exact: number; reserialised: number };
  /** The receiver could read no event in it. */
  refused: number;
  /** The frame was no delivery. */
  malformed: number;
  tooLarge: number;
  /** The receiver failed again and again. */
  failed: number;
  selfTest: number;
};

/** So many refusals in a row, and no delivery between that verifies, are no accident. */
const SUSPICIOUS_ROW = 3;

export function createFigures(now: () => number) {
  const deliveries: DeliveryCounts = {
    accepted: 0,
    duplicate: 0,
    unauthorised: { exact: 0, reserialised: 0 },
    refused: 0,
    malformed: 0,
    tooLarge: 0,
    failed: 0,
    selfTest: 0,
  };
  const lastHour = { exact: createRecentCount(now), reserialised: createRecentCount(now) };
  let row = { exact: 0, reserialised: 0 };

  return {
    note(how: Exclude<Settled, 'unauthorised'> | 'malformed' | 'tooLarge' | 'selfTest'): void {
      deliveries[how] += 1;
      if (how !== 'malformed' && how !== 'tooLarge' && how !== 'failed') row = { exact: 0, reserialised: 0 };
    },
    noteUnauthorised(exact: boolean): void {
      const kind = exact ? 'exact' : 'reserialised';
      deliveries.unauthorised[kind] += 1;
      lastHour[kind].note();
      row[kind] += 1;
    },
    unauthorised(): FeedConditions['unauthorised'] {
      if (row.exact + row.reserialised < SUSPICIOUS_ROW) return 'no';
      return row.exact > 0 ? 'signed-otherwise' : 'rewritten-or-signed-otherwise';
    },
    report: () => ({
      deliveries: structuredClone(deliveries),
      unauthorisedLastHour: { exact: lastHour.exact.count(), reserialised: lastHour.reserialised.count() },
    }),
  };
}
