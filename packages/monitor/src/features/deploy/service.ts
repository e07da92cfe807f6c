// A person's decision on a deploy, and the relaxation of a repository's policy.

import { repoKey } from '@svc/contract/repo-name';
import { shownStatus } from '@svc/contract/worker-statuses';
import type { Board } from '../../kernel/board/board.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { Asked } from '../../kernel/http/route.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import type { DetailOf } from '../../kernel/log/topics.ts';
import type { api } from '../api.ts';
import type { Why } from '../workers/api.ts';
import { unknownTicket } from '../workers/service.ts';
import type { Worker } from '../workers/worker.ts';
import { scopeOfWorker } from '../workers/worker-attention.ts';
import { deployStep } from './lifecycle.ts';
import { afterRelaxed, requiresNow } from './policy.ts';
import type { PolicyView } from './policy-api.ts';
import { policyViews } from './policy-view.ts';

const topics = { retry: 'orchestrator.deploy.retried', accept: 'orchestrator.deploy.accepted' } as const;

type Decision = keyof typeof topics;

type TicketNamed = { ticket: string; worker: Worker | null };

export type DecisionAccess = {
  state: StateAccess;
  append: Append;
  /** What the features above know of a ticket. */
  ticketNamed: (board: Board, ticket: string, orchestrator?: string) => TicketNamed | undefined;
  why: (board: Board, worker: Worker, now: number) => Why;
  now: () => number;
};

/** Tried first: an action that the lifecycle ignores does not go into the log. */
export async function decideDeploy(
  options: DecisionAccess,
  asked: Asked<typeof api.decideDeploy>['params'] & Asked<typeof api.decideDeploy>['body'],
): Promise<ApiAnswer<typeof api.decideDeploy>> {
  const { state, ticketNamed, why, now } = options;
  const { ticket, action, by, note, orchestrator } = asked;
  const board = boardOf(state);
  const subject = ticketNamed(board, ticket, orchestrator);
  if (subject === undefined) throw unknownTicket(ticket);
  const { worker } = subject;
  if (worker === null) throw new Failure('not-allowed-now', `No run works on ${subject.ticket}.`);
  const at = new Date(now()).toISOString();
  const step = deployStep(worker, { kind: 'person', action, by, seq: board.seq + 1, at });
  if (step.worker === worker) throw notNow(action, worker, why(board, worker, now()));
  await appendAndWait(options, draftOf(worker, action, at, { by, ...(note !== undefined && { note }) }));
  const after = state.board();
  return { ok: true as const, action, why: why(after, after.workers.get(worker.key) ?? worker, now()) };
}

function notNow(action: Decision, { ticket, status }: Worker, { rule, waitsFor }: Why): Failure {
  const waits = waitsFor === null ? '' : ` Waiting for ${waitsFor}.`;
  return new Failure(
    'not-allowed-now',
    `Nothing to ${action}: ${ticket} is ${shownStatus(status)}. ${rule}${waits}`,
    `See why: svc why ${ticket}`,
  );
}

/** `at` is the machine's clock, which deadlines use: the event's own time may be ahead of it. */
function draftOf(
  worker: Worker,
  action: Decision,
  at: string,
  detail: DetailOf<(typeof topics)[Decision]>,
): EventDraft {
  const { deploy } = worker;
  return {
    event: topics[action],
    source: 'cli',
    via: 'local',
    occurredAt: at,
    scope: { ...scopeOfWorker(worker), ...(deploy !== null && { environment: deploy.environment }) },
    detail,
  };
}

/** Tried first: a relaxation that changes nothing does not go into the log. */
export async function relaxPolicy(
  options: { state: StateAccess; append: Append; onPolicyChange: () => void },
  { repo: named, by, note }: Asked<typeof api.relaxDeployPolicy>['body'],
): Promise<ApiAnswer<typeof api.relaxDeployPolicy>> {
  const board = boardOf(options.state);
  const repo = repoKey(named);
  const known = board.policies.get(repo);
  if (known === undefined || known.requiredBy.length === 0)
    throw new Failure(
      'not-allowed-now',
      `Nothing to relax: ${repo} does not require a verified deployment.`,
      `See: svc deploy policy ${repo}`,
    );
  const stated = known.requiredBy.find(({ project }) => requiresNow(board.projects.get(project), repo));
  if (stated !== undefined)
    throw new Failure(
      'not-allowed-now',
      `The file of ${stated.project} requires a verified deployment of ${repo}.`,
      `In that folder, run: svc config set svc.deploy.${repo}.skipDeployVerification true`,
    );
  if (afterRelaxed(known, board.projects, by, { at: '', seq: board.seq }) === known)
    throw new Failure('not-allowed-now', `Nothing to relax for ${repo}.`);
  const detail = { by, ...(note !== undefined && { note }) };
  const relaxed = draft('orchestrator.deploy.policy_relaxed', { repo }, detail, { source: 'cli' });
  await appendAndWait(options, relaxed);
  options.onPolicyChange();
  const [policy] = policyViews(options.state.board(), repo);
  return { ok: true, policy: policy as PolicyView };
}
