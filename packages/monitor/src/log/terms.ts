// What a line can be found by. A term is a number made from a kind and a value (53 bits of a hash), small
// and of one size; two values may share one, so whoever finds a line by a term checks the line itself.
import type { EventDraft, EventLine } from '@svc/core';

/** Each kind starts the hash at a number of its own, so that equal values of two kinds differ. */
const kinds = {
  topic: 1,
  repo: 2,
  pr: 3,
  ticket: 4,
  sha: 5,
  orchestrator: 6,
  worker: 7,
  deployment: 8,
  delivery: 9,
} as const;

export function term(kind: keyof typeof kinds, value: string): number {
  return hash53(value, kinds[kind]);
}

/** A pull request is found by its number alone, and by repository and number. */
export function pullRequestTerm(pr: number, repo?: string): number {
  return term('pr', repo === undefined ? `#${pr}` : `${repo}#${pr}`);
}

/** The terms of a line, its delivery apart. A commit is found under `sha` and `mergeSha` alike. */
export function termsOf({ event, scope }: EventLine): number[] {
  const terms = [term('topic', event)];
  if (scope.repo !== undefined) terms.push(term('repo', scope.repo));
  if (scope.pr !== undefined) {
    terms.push(pullRequestTerm(scope.pr));
    if (scope.repo !== undefined) terms.push(pullRequestTerm(scope.pr, scope.repo));
  }
  if (scope.ticket !== undefined) terms.push(term('ticket', scope.ticket));
  if (scope.orchestrator !== undefined) terms.push(term('orchestrator', scope.orchestrator));
  if (scope.worker !== undefined) terms.push(term('worker', scope.worker));
  if (scope.sha !== undefined) terms.push(term('sha', scope.sha));
  if (scope.mergeSha !== undefined && scope.mergeSha !== scope.sha) terms.push(term('sha', scope.mergeSha));
  if (scope.deploymentId !== undefined) terms.push(term('deployment', String(scope.deploymentId)));
  return terms;
}

/**
 * The name under which a delivery is the same delivery, whichever way it came: live, replayed or polled.
 * Undefined for a fact that was not delivered.
 */
export function deliveryKey({
  source,
  deliveryId,
}: Pick<EventDraft, 'source' | 'deliveryId'>): string | undefined {
  if (deliveryId === undefined) return undefined;
  const dot = source.indexOf('.');
  return `${dot < 0 ? source : source.slice(0, dot)}:${deliveryId}`;
}

/**
 * The name under which the same signed bytes are found again, whatever id they come with. A repeat is not found by it:
 * all repeats are of the first.
 */
export function signedKey({
  source,
  signed,
  repeatOf,
}: Pick<EventDraft, 'source' | 'signed' | 'repeatOf'>): string | undefined {
  return signed === undefined || repeatOf !== undefined ? undefined : `${source} signed:${signed}`;
}

/** Two 32-bit lanes in the manner of FNV-1a, joined to 53 bits: quick, and spread well enough. Not for secrets. */
function hash53(text: string, seed: number): number {
  let low = 0x811c9dc5 ^ seed;
  let high = 0x2f0b4c47 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x01000193) ^ (high >>> 15);
  }
  // FNV spreads its last characters only upwards: fold the high bits down once more.
  low ^= low >>> 16;
  high ^= high >>> 13;
  // Never zero: that is what an empty place looks like.
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1;
}
