// What every feature keeps on the board, and how it folds lines.

import { createBoardRules } from '../kernel/board/board-rules.ts';
import { agentFolds } from './agents/fold-agent.ts';
import { attentionFolds } from './attention/fold-attention.ts';
import { attentionSlices } from './attention/slice.ts';
import { steps } from './board-steps.ts';
import { deploymentFolds } from './deploy/fold-deployment.ts';
import { policyFolds } from './deploy/fold-policy.ts';
import { deploySlices, noDeploymentLinks } from './deploy/slice.ts';
import { feedSlice } from './feeds/slice.ts';
import { claimFolds, pullRequestFolds } from './pull-requests/fold-pull-request.ts';
import { noPullRequestLinks, pullRequestSlice } from './pull-requests/slice.ts';
import { ruleFolds } from './rules/fold-rules.ts';
import { runFolds } from './runs/fold-run.ts';
import { runSlice } from './runs/slice.ts';
import { sessionFolds } from './sessions/fold-session.ts';
import { sessionSlice } from './sessions/slice.ts';
import { taskFolds } from './tasks/fold-tasks.ts';
import { taskSlice } from './tasks/slice.ts';
import { teamFolds } from './team/fold-team.ts';
import { teamSlices } from './team/slice.ts';
import { releasing } from './tickets/held-ticket.ts';
import { typedLine } from './topics.ts';
import { ticketTextFolds } from './tracker/fold-ticket-text.ts';
import { subjectFolds } from './tracker/fold-tickets.ts';
import { noTicketLinks, ticketSlice } from './tracker/slice.ts';
import { verificationFolds } from './verify/fold-verification.ts';
import { workerFolds } from './workers/fold-worker.ts';
import { noWorkerLinks, workerSlice } from './workers/slice.ts';

export const boardRules = createBoardRules({
  form: 20,
  slices: {
    ...pullRequestSlice,
    ...workerSlice,
    ...deploySlices,
    ...ticketSlice,
    // After the tickets: a local one keeps its task.
    ...taskSlice,
    ...runSlice,
    ...sessionSlice,
    ...teamSlices,
    ...feedSlice,
    ...attentionSlices,
  },
  counters: { localTickets: 0 },
  noLinks: () => ({
    ...noWorkerLinks(),
    ...noPullRequestLinks(),
    ...noDeploymentLinks(),
    ...noTicketLinks(),
  }),
  folds: [
    ...releasing([...pullRequestFolds, ...deploymentFolds, ...policyFolds]),
    ...workerFolds,
    ...claimFolds,
    ...verificationFolds,
    ...runFolds,
    ...agentFolds,
    ...sessionFolds,
    ...attentionFolds,
    ...teamFolds,
    ...subjectFolds,
    ...ticketTextFolds,
    ...taskFolds,
    ...ruleFolds,
  ],
  steps,
  typedLine,
});

export const { emptyBoard, foldLine, packBoard, unpackBoard } = boardRules;
