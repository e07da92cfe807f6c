// Consent to file findings without asking. The project file can request it (`autoFile`), but someone else may have
// committed that file: it counts only for destinations that the user agreed to, which are in the user's own file.
import { repoKey } from '@svc/contract/repo-name';
import type { Config } from '../config.ts';
import { trackerOf } from '../tracker/tracker-of.ts';

/** Where the project's findings can be filed, in the format of `svc.feedback.consentFor`. */
export function filingDestinations(config: Config): string[] {
  const chosen = trackerOf(config);
  // A prefix does not name a repository: consent for one must not count for another.
  const place = chosen.provider === 'github' ? repoKey(chosen.teamId) : chosen.provider && chosen.teamKey;
  const tracker = place === undefined ? [] : [`tracker:${place}`];
  return [...tracker, `codehost:${repoKey(config.svc.feedback.codehostRepo)}`];
}

export type FilingConsent =
  | { granted: true }
  /** `unconfirmed`: the project file consents, but the user has not agreed to these destinations. */
  | { granted: false; unconfirmed: string[] };

export function filingConsent(config: Config): FilingConsent {
  const { autoFile, consentFor } = config.svc.feedback;
  if (!autoFile) return { granted: false, unconfirmed: [] };
  const unconfirmed = filingDestinations(config).filter((destination) => !consentFor.includes(destination));
  return unconfirmed.length === 0 ? { granted: true } : { granted: false, unconfirmed };
}
