// Consent to file findings without being asked. The project's file says that it is wanted (`autoFile`), but somebody
// else may have committed that file: it counts only for the places that the user agreed to, and those are kept in the
// user's own file.

import { repoKey } from '../codehost/repo-name.ts';
import type { Config } from '../config/schema/config.ts';

/** Where findings of the project can end up, as they are kept in `svc.feedback.consentFor`. */
export function filingPlaces({ svc }: Config): string[] {
  const { teamKey, apiToken } = svc.tracker;
  const tracker = teamKey === undefined || apiToken === undefined ? [] : [`tracker:${teamKey}`];
  return [...tracker, `codehost:${repoKey(svc.feedback.codehostRepo)}`];
}

export type FilingConsent =
  | { granted: true }
  /** `unconfirmed`: the project's file consents, and the user has not agreed to these places. */
  | { granted: false; unconfirmed: string[] };

export function filingConsent(config: Config): FilingConsent {
  const { autoFile, consentFor } = config.svc.feedback;
  if (!autoFile) return { granted: false, unconfirmed: [] };
  const unconfirmed = filingPlaces(config).filter((place) => !consentFor.includes(place));
  return unconfirmed.length === 0 ? { granted: true } : { granted: false, unconfirmed };
}
