// What features add to the folds of the features below them. The order of each list is part of the behaviour.

import type { FoldSteps } from '../kernel/board/fold-context.ts';
import { applyMerge, applyOthers, applyToStack } from './deploy/apply-merge.ts';
import { moveIfDone, withClaim } from './deploy/claim.ts';
import { withKnownFacts } from './deploy/known-facts.ts';
import { withKnownPreviews } from './deploy/previews.ts';
import { reactToJudgement, reactToPush, withKnownReactions } from './reactions/fold-reactions.ts';
import { askForRun } from './runs/ask-for-run.ts';
import { touchRun } from './runs/fold-run.ts';
import { heldBack } from './tickets/held-ticket.ts';
import { causeStands, withdraw, workerReasons } from './tickets/needs.ts';
import { askForRemediation } from './verify/fold-verification.ts';
import { withAttention } from './workers/fold-worker.ts';

export const steps: FoldSteps = {
  heldBack,
  issueSteps: [askForRun],
  causeStands,
  withdraw,
  workerReasons,
  workerSteps: [touchRun, withClaim, askForRemediation, withAttention, moveIfDone],
  linked: [withKnownFacts, withKnownReactions],
  headSteps: [withKnownPreviews],
  pullRequestSteps: [applyToStack, reactToPush, applyMerge, applyOthers],
  judgementSteps: [reactToJudgement],
};
