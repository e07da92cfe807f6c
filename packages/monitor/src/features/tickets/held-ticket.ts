// A ticket whose phase is reported as done is moved only with proof, if its repository requires that. Until then it is held:
// the deploy lifecycle moves it when its worker is done. What no worker carries is kept on the ticket, and moved when its
// own merge is proved to have shipped, or when it is known that nothing has to be proved.
import type { Board } from '../../kernel/board/board.ts';
import type { Fold, FoldContext } from '../../kernel/board/fold-context.ts';
import { deployPolicyForTicket, stricter } from '../deploy/policy.ts';
import { isTicketOver } from '../tracker/dependencies.ts';
import { moveTicket } from '../tracker/move-ticket.ts';
import { isGivenUp } from '../workers/current-worker.ts';
import { isShipped } from '../workers/status-groups.ts';
import { proofOf } from './proof.ts';
import { createLookup, type Lookup } from './subject.ts';

/** Why the ticket is not moved to done yet; null if nothing holds it back. */
export function heldBack(board: Board, ticket: string, lookup = createLookup(board)): string | null {
  const subject = lookup.ofTicket(ticket);
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

/** The same folds; after each of their lines, the tickets that nothing holds back any more are moved. */
export function releasing(folds: readonly Fold[]): Fold[] {
  return folds.map((before) => ({
    topics: before.topics,
    fold(context) {
      before.fold(context);
      if (context.board.links.heldTickets.size > 0 && mayRelease(context)) releaseHeld(context);
    },
  }));
}

/** A pull request that is only open proves nothing, and most lines are of those. */
function mayRelease({ line: { event, detail } }: FoldContext): boolean {
  const isMerged = event === 'codehost.pr.merged' || Reflect.get(detail, 'merged') === true;
  return isMerged || !event.startsWith('codehost.pr');
}

function releaseHeld(context: FoldContext): void {
  const { board } = context;
  const lookup = createLookup(board);
  for (const name of board.links.heldTickets) {
    const ticket = board.tickets.get(name);
    // A person may have moved it in the tracker.
    const isWaiting = ticket?.phase?.held === true && !isTicketOver(ticket);
    if (isWaiting && (isCarried(lookup, name) || heldBack(board, name, lookup) !== null)) continue;
    board.links.heldTickets.delete(name);
    if (!ticket?.phase) continue;
    const { held: _, ...phase } = ticket.phase;
    board.tickets.set(name, { ...ticket, phase });
    if (isWaiting) moveTicket(context, name, 'done');
  }
}

/** The lifecycle of its worker moves it, however little has to be proved. */
function isCarried(lookup: Lookup, ticket: string): boolean {
  const worker = lookup.ofTicket(ticket)?.worker ?? null;
  return worker !== null && !isShipped(worker) && !isGivenUp(worker);
}
