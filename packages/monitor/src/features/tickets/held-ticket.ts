// A ticket whose phase is reported as done is moved only with proof, if its repository requires that. Until then it is held;
// the deploy lifecycle moves it when its worker is done.
import type { Board } from '../../kernel/board/board.ts';
import { deployPolicyForTicket, stricter } from '../deploy/policy.ts';
import { proofOf } from '../deploy/proof.ts';
import { createLookup } from './subject.ts';

/** Why the ticket is not moved to done yet; null if nothing holds it back. */
export function heldBack(board: Board, ticket: string): string | null {
  const subject = createLookup(board).ofTicket(ticket);
  if (subject !== undefined && proofOf(board, subject).shipped === true) return null;
  const judged = subject?.judged ?? null;
  // The worker's file names its repository: it is not trusted with a laxer one than the project's own.
  const ofTicket = deployPolicyForTicket(board, ticket, { anyRepo: judged === null });
  const { skipDeployVerification: skip } = judged === null ? ofTicket : stricter(judged.policy, ofTicket);
  const repo = subject?.worker?.repo ?? subject?.pullRequest?.repo ?? 'its repository';
  if (skip === true) return null;
  if (skip === null) return `it is not known whether ${repo} requires a verified deployment`;
  return `${repo} requires a verified deployment, and none was seen`;
}
