// All kinds, and which one is next.
import type { Random } from '../../packages/testkit/src/random.ts';
import { badBodies } from './bad-bodies.ts';
import { badFraming } from './bad-framing.ts';
import { badHeaders } from './bad-headers.ts';
import type { Kind } from './bad-request.ts';
import { badSignatures } from './bad-signatures.ts';
import { fairRequests } from './fair-requests.ts';

export const kinds: readonly Kind[] = [
  ...fairRequests,
  ...badSignatures,
  ...badBodies,
  ...badHeaders,
  ...badFraming,
];

/** More than are sent at once. */
const FIRST_GOOD = 100;
const total = kinds.reduce((sum, { weight }) => sum + weight, 0);

/** At random by weight; the first few are good ones, so that there is something to replay. */
export function chooseKind(random: Random, request: number): Kind {
  let left = request <= FIRST_GOOD ? 0 : random.next() * total;
  const chosen = kinds.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  if (chosen === undefined) throw new Error('There are no kinds');
  return chosen;
}
