// Why a ticket is in its state: the rule, the facts, what it waits for, where the facts disagree, and what is not known.
import { agentSays, shownStatus } from '@svc/contract/worker-statuses';
import type { Board, Entities } from '../../kernel/board/board.ts';
import { inOneLine } from '../agents/agent-output.ts';
import { limitText, pausedBy, suspendedText } from '../agents/limits.ts';
import type { AgentState } from '../agents/session.ts';
import type { Deployment } from '../deploy/deployment.ts';
import { isDeployTask } from '../deploy/lifecycle.ts';
import { ALL_CHECKS } from '../pull-requests/pull-request-verdict.ts';
import { contradictionsIn, unknownsIn } from '../tickets/inconsistencies.ts';
import { evidenceOf, proofOf } from '../tickets/proof.ts';
import { nameOf, ruleOf, waitOf } from '../tickets/rule.ts';
import { createLookup, type Subject, shortSha } from '../tickets/subject.ts';
import type { Ticket } from '../tracker/ticket.ts';
import { nothingSpent } from '../workers/agent-fields.ts';
import type { Why } from '../workers/api.ts';
import { isInLifecycle } from '../workers/deploy-stage.ts';
import { processOf } from '../workers/known-process.ts';
import { isShipped } from '../workers/status-groups.ts';
import { neverWaited } from '../workers/waits.ts';
import type { Worker } from '../workers/worker.ts';

export function why(board: Board, worker: Worker, now: number): Why {
  return whyOf(board, createLookup(board).ofWorker(worker), now);
}

/**
 * The newest worker's when several runs have one for the ticket; that of another machine of the team if it is named, or
 * if this machine has no worker for the ticket. Undefined when the ticket is unknown.
 */
export function whyTicket(
  board: Board,
  ticket: string,
  now: number,
  orchestrator?: string,
  machine?: string,
): Why | undefined {
  const subject = machine === undefined ? createLookup(board).ofTicket(ticket, orchestrator) : undefined;
  const received = subject?.worker ? undefined : whyReceived(board, ticket, orchestrator, machine);
  return received ?? (subject && whyOf(board, subject, now));
}

type ReceivedWorker = Extract<Entities['team'], { kind: 'worker' }>;

/** From what another machine has published, and what this machine knows of the pull request, the ticket and deploys. */
function whyReceived(board: Board, ticket: string, orchestrator?: string, machine?: string): Why | undefined {
  const name = ticket.toUpperCase();
  const newest = [...board.team.values()]
    .filter((record): record is ReceivedWorker => record.kind === 'worker')
    .filter(({ value }) => value?.ticket.toUpperCase() === name)
    .filter(({ value }) => orchestrator === undefined || value?.orchestrator === orchestrator)
    .filter((record) => isOn(board.members.get(record.machine), machine))
    .toSorted((one, other) => one.lastSeq - other.lastSeq)
    .at(-1);
  const from = board.members.get(newest?.machine ?? '');
  if (newest === undefined || newest.value === null || from === undefined) return undefined;
  const { value: worker, lastAt } = newest;
  const folded = {
    signal: null,
    hash: null,
    raised: [],
    spent: nothingSpent,
    waited: neverWaited,
    first: { repo: null, startedAt: null },
    refuted: [],
    given: null,
    unseenSeq: null,
    proofsAsked: [],
  };
  const subject = createLookup(board).ofWorker({ ...worker, ...folded });
  // Its events are in the log of the other machine.
  const published = ofWorker(subject).map(
    (fact): Fact => ({ ...fact, seq: null, source: fact.source === 'person' ? 'person' : 'claimed' }),
  );
  const { rule, waitsFor, until, contradictions, status, statusSince: since } = worker;
  return {
    ticket: worker.ticket,
    orchestrator: worker.orchestrator,
    status,
    since,
    rule,
    facts: [...factsOf({ ...subject, worker: null }), ...published].toSorted(byTime),
    waitsFor,
    until,
    shipped: isShipped(worker),
    contradictions,
    unknown: [`The rest of its history is on ${from.machine}: events, output and changes are not shared.`],
    from: { id: from.id, machine: from.machine, person: from.person, receivedAt: lastAt },
  };
}

function isOn(member: Entities['members'] | undefined, machine: string | undefined): boolean {
  return member !== undefined && (machine === undefined || [member.id, member.machine].includes(machine));
}

function byTime(one: Fact, other: Fact): number {
  return Date.parse(one.at ?? '') - Date.parse(other.at ?? '') || 0;
}

function whyOf(board: Board, subject: Subject, now: number): Why {
  const { ticket, worker } = subject;
  return {
    ticket,
    orchestrator: worker?.orchestrator ?? null,
    status: worker?.status ?? 'unknown',
    since: worker?.statusSince ?? null,
    rule: ruleOf(subject),
    facts: factsOf(subject),
    ...waitOf(subject),
    shipped: proofOf(board, subject).shipped,
    contradictions: contradictionsIn(subject),
    unknown: unknownsIn(board, subject, now),
  };
}

// The facts behind a ticket's state, each with its event and how it is known, oldest first.

/** Only the newest facts are kept. */
const MOST_FACTS = 100;

function factsOf(subject: Subject): Fact[] {
  const facts = [
    ...ofTracker(subject),
    ...ofWorker(subject),
    ...ofPullRequest(subject),
    ...ofDeployments(subject),
    ...subject.others.map(
      (other): Fact => ({
        at: other.lastAt,
        seq: other.lastSeq,
        source: 'claimed',
        text: `Run ${other.orchestrator} also works on this ticket: ${shownStatus(other.status)}.`,
      }),
    ),
  ];
  return facts.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)).slice(-MOST_FACTS);
}

function ofTracker({ tracked }: Subject): Fact[] {
  if (tracked === null) return [];
  const facts: Fact[] = [];
  const { phase, removed, state, dispatch, lastAt: at, lastSeq: seq } = tracked;
  const source = evidenceOf(tracked.via);
  if (removed) facts.push({ at, seq, source, text: 'The ticket was removed from the tracker.' });
  else if (typeof state?.name === 'string')
    facts.push({
      at,
      seq,
      source,
      text:
        tracked.local === true
          ? `Its state is ${state.name}, kept by svc alone.`
          : `The tracker reports ${state.name}.${state.id === 'open' && phase !== null ? noLabel : ''}`,
    });
  if (phase !== null)
    facts.push({
      at: phase.at,
      seq: phase.seq,
      source: 'claimed',
      text: `The workflow phase is ${spoken(phase.phase)}${phase.held ? ', and the ticket is moved there once that is proved' : ''}.`,
    });
  if (dispatch !== undefined)
    facts.push({ at: dispatch.at, seq: dispatch.seq, source: 'observed', text: dispatchText(dispatch) });
  return facts;
}

/** An issue without a label for its state is only open, whatever its phase is. */
const noLabel =
  ' No label shows its phase: create labels with the names in svc.tracker.stateMap (gh label create "In Progress").';

function dispatchText({ because, by, run, reason }: NonNullable<Ticket['dispatch']>): string {
  const what = `by ${because}${by === null ? '' : `, set by ${by}`}`;
  return run === null ? `No run was started ${what}: ${reason}.` : `The run ${run} was started ${what}.`;
}

function ofWorker({ worker }: Subject): Fact[] {
  if (worker === null) return [];
  const { claim, deploy, corrupt, signal } = worker;
  const process = processOf(worker);
  const facts: Fact[] = [];
  const isFromFile = !isInLifecycle(worker);
  const reported =
    claim ?? (isFromFile ? { status: worker.status, at: worker.statusSince, seq: worker.statusSeq } : null);
  if (reported !== null)
    facts.push({
      at: reported.at,
      seq: reported.seq,
      source: 'claimed',
      text: reported.status === 'dispatched' ? 'The agent was started.' : `${agentSays(reported.status)}.`,
    });
  if (typeof signal?.error === 'string')
    facts.push({
      at: signal.updatedAt,
      seq: null,
      source: 'claimed',
      text: `The agent reports: ${signal.error}`,
    });
  if (process.state !== 'unknown') {
    const text = process.state === 'alive' ? 'The process is running.' : 'The process is not running.';
    facts.push({ at: process.since, seq: process.seq, source: 'observed', text });
    if (process.stderr !== undefined)
      facts.push({
        at: process.since,
        seq: process.seq,
        source: 'observed',
        text: `Its standard error ends with: ${inOneLine(process.stderr)}`,
      });
  }
  facts.push(...ofAgent(worker), ...ofVerification(worker));
  if (corrupt !== null)
    facts.push({
      at: corrupt.at,
      seq: corrupt.seq,
      source: 'observed',
      text: `Its status file cannot be read: ${corrupt.problem.replace(/\.$/, '')}.`,
    });
  if (deploy?.result === 'timeout')
    facts.push({
      at: worker.statusSince,
      seq: worker.statusSeq,
      source: 'observed',
      text: 'The deadline passed.',
    });
  if (deploy?.retried !== undefined) {
    const { times, at = null, seq = null } = deploy.retried;
    const often = times === 1 ? '' : ` ${times} times`;
    facts.push({ at, seq, source: 'person', text: `A person retried the deploy${often}.` });
  }
  if (deploy?.result === 'accepted')
    facts.push({
      at: deploy.completedAt,
      seq: worker.statusSeq,
      source: 'person',
      text: 'A person accepted it as done.',
    });
  return facts;
}

function ofVerification({ verification }: Worker): Fact[] {
  if (verification === null) return [];
  const { state, summary, seq, at } = verification;
  const what = state === 'running' ? 'is under way' : state;
  const text = `The verification of the merge commit ${what}${summary === null ? '' : `: ${summary}`}`;
  return [{ at, seq, source: 'observed', text: text.endsWith('.') ? text : `${text}.` }];
}

const agentStateTexts: Readonly<Record<AgentState, string>> = {
  starting: 'is starting',
  running: 'is working',
  'needs-permission': 'is waiting for a permission',
  'needs-input': 'is waiting for input',
  idle: 'has ended its turn',
  paused: 'is paused by a usage limit',
  ended: 'has ended',
};

function ofAgent({ agent, lastSeq: seq }: Worker): Fact[] {
  if (agent === null) return [];
  const { name, protocol, reason, state, since: at, doing, problem } = agent;
  const what = protocol
    ? `The agent ${name}`
    : `The agent ${name} runs as a command line (${reason ?? 'unknown'}) and`;
  const now = doing === null || state !== 'running' ? '' : `: ${doing}`;
  const rest = agent.suspended === undefined ? '' : `. It was ${suspendedText(agent.suspended)}`;
  const known = state === null ? 'does not report what it does' : `${agentStateTexts[state]}${now}${rest}`;
  const facts: Fact[] = [{ at, seq, source: 'observed', text: `${what} ${known}.` }];
  const limit = pausedBy(agent);
  if (limit !== null) facts.push({ at: limit.at, seq, source: 'observed', text: limitText(limit) });
  else if (problem !== null)
    facts.push({ at, seq, source: 'observed', text: `The agent reports: ${problem}` });
  return facts;
}

function ofPullRequest(subject: Subject): Fact[] {
  const { pullRequest, worker } = subject;
  const name = nameOf(subject);
  if (pullRequest === null) {
    if (worker === null || worker.pr === null) return [];
    return [
      {
        at: worker.lastAt,
        seq: worker.lastSeq,
        source: 'claimed',
        text: `The agent names ${name} as its pull request.`,
      },
    ];
  }
  const { openedAt, firstSeq, firstVia, checks, reviews, merge, state, closedAt } = pullRequest;
  const facts: Fact[] = [
    { at: openedAt, seq: firstSeq, source: evidenceOf(firstVia), text: `${name} was opened.` },
  ];
  for (const { name: check, conclusion, at, seq } of checks) {
    const source = check === ALL_CHECKS ? 'fetched' : 'observed';
    facts.push({ at, seq, source, text: `Checks, ${check}: ${spoken(conclusion ?? 'running')}.` });
  }
  for (const { reviewer, state: verdict, at, seq } of reviews)
    facts.push({ at, seq, source: 'observed', text: `${reviewer} reviewed: ${spoken(verdict)}.` });
  if (merge !== null) {
    const as = merge.sha === null ? '' : ` as ${shortSha(merge.sha)}`;
    facts.push({
      at: merge.at,
      seq: merge.seq,
      source: evidenceOf(merge.via),
      text: `${name} was merged${as}.`,
    });
  } else if (state === 'closed') {
    facts.push({
      at: closedAt,
      seq: pullRequest.lastSeq,
      source: evidenceOf(pullRequest.via),
      text: `${name} was closed without a merge.`,
    });
  }
  return facts;
}

/** `in_progress` and `inProgress` are `in progress`. */
function spoken(state: string): string {
  return state.replaceAll(/_|(?=[A-Z])/g, ' ').toLowerCase();
}

function factsAbout(deployments: readonly Deployment[], awaited?: string): Fact[] {
  return deployments.flatMap((deployment) =>
    deployment.states.map(({ state, environment, at, seq, via }) => {
      const { id, sha } = deployment;
      const text = `Deployment ${id} of ${shortSha(sha)} to ${environment}: ${spoken(state)}.`;
      const note = awaited === undefined ? '' : ` It does not count: ${whyNot(deployment, awaited)}.`;
      return { at, seq, source: evidenceOf(via), text: `${text}${note}` };
    }),
  );
}

function whyNot({ task }: Deployment, awaited: string): string {
  return isDeployTask(task) ? `svc.deploy waits for ${awaited}` : `its task is ${task}, not deploy`;
}

function ofDeployments({ worker, counted, elsewhere }: Subject): Fact[] {
  if (worker === null || worker.deploy === null || isShipped(worker)) return factsAbout(counted);
  return [...factsAbout(counted), ...factsAbout(elsewhere, worker.deploy.environment)];
}

// How something is known: observed in a delivery, fetched by a poll, claimed by the worker, or decided by a person.

type Evidence = 'observed' | 'fetched' | 'claimed' | 'person';

type Fact = {
  /** When it happened, if that is known. */
  at: string | null;
  seq: number | null;
  source: Evidence;
  text: string;
};
