// Judges whether a step function keeps its promises on a tape of facts. It shares no code with the lifecycle: it checks
// each move from outside against the facts so far, rule by rule.
import type { WorkerStatus } from '@svc/contract/signal-file';
import type { DeployPolicy, DeployWorker } from '../../workers/deploy-fields.ts';
import type { DeployEffect, DeployFact, DeployStep } from '../deploy-worker.ts';
import { newWorker } from './plain-facts.ts';
import type { Tape } from './random-tape.ts';

export type Step = (worker: DeployWorker, fact: DeployFact) => DeployStep;

/** The state of a worker in the model. */
type State = 'open' | 'canceled' | 'merged' | 'deploying' | 'failed' | 'exhausted' | 'stalled' | 'done';

/** All allowed moves: from, why, to. */
export const arrows: ReadonlySet<string> = new Set([
  'open -merged-> merged',
  'open -merged-> done',
  'open -claimed-> canceled',
  'open -claimed-> merged',
  'open -claimed-> done',
  'open -accept-> done',
  'canceled -claimed-> open',
  'canceled -accept-> done',
  'merged -start-> deploying',
  'merged -success-> done',
  'merged -failure-> failed',
  'merged -time-> stalled',
  'merged -accept-> done',
  'deploying -success-> done',
  'deploying -failure-> failed',
  'deploying -failure-> exhausted',
  'deploying -time-> stalled',
  'deploying -accept-> done',
  'failed -start-> deploying',
  'failed -success-> done',
  'failed -failure-> exhausted',
  'failed -time-> stalled',
  'failed -retry-> merged',
  'failed -accept-> done',
  'exhausted -retry-> merged',
  'exhausted -accept-> done',
  'stalled -success-> done',
  'stalled -retry-> merged',
  'stalled -accept-> done',
]);

export type Verdict = { complaint: string | null; arrows: Set<string> };

/** What the judge records while the tape runs. */
type Notes = {
  facts: DeployFact[];
  /** When the deadline's clock started. */
  clockFrom: number;
  /** Deployments that failed since the merge or the last retry, and the newest that failed before that. */
  failed: number[];
  failedBefore: number;
  /** Commits proven to contain the merge. */
  proven: Set<string>;
  attention: Set<string>;
};

/** One fact, with the worker before and after it. */
type Moment = {
  fact: DeployFact;
  why: string;
  before: DeployWorker;
  after: DeployWorker;
  from: State;
  to: State;
  effects: DeployEffect[];
  policy: DeployPolicy;
  notes: Notes;
};

export function judge(step: Step, { policy, entries }: Tape): Verdict {
  const verdict: Verdict = { complaint: null, arrows: new Set() };
  const notes: Notes = {
    facts: [],
    clockFrom: Number.NaN,
    failed: [],
    failedBefore: -1,
    proven: new Set(),
    attention: new Set(),
  };
  let worker = newWorker(policy);
  let image = JSON.stringify(worker);
  for (const { fact, restart } of [...entries, pastAllDeadlines({ policy, entries })]) {
    const before = restart ? (JSON.parse(image) as DeployWorker) : worker;
    const { worker: after, effects } = step(before, fact);
    const [from, to, why] = [stateOf(before), stateOf(after), whyOf(fact)];
    const result = after === before ? image : JSON.stringify(after);
    const moment = { fact, why, before, after, from, to, effects, policy, notes };
    if (from !== to) verdict.arrows.add(`${from} -${why}-> ${to}`);
    notes.facts.push(fact);
    verdict.complaint =
      // Only the copy made by a restart is compared; comparing each time would take twice as long.
      (restart && JSON.stringify(before) !== image ? 'the worker was changed in place' : null) ??
      safetyComplaint(moment) ??
      progressComplaint(moment) ??
      effectComplaint(moment) ??
      repetitionComplaint(step, moment, result, result !== image);
    if (verdict.complaint !== null) return verdict;
    takeNotes(moment);
    worker = after;
    image = result;
  }
  if (isWaiting(stateOf(worker))) verdict.complaint = 'a worker is stuck after all deadlines';
  return verdict;
}

function pastAllDeadlines({ policy, entries }: Tape): Tape['entries'][number] {
  const last = Math.max(0, ...entries.map(({ fact }) => Date.parse(fact.at)));
  const at = new Date(last + policy.timeoutSec * 1000).toISOString();
  return { fact: { kind: 'time', seq: entries.length + 1, at }, restart: true };
}

/** A known fact changes nothing and has no effects, except perhaps a request for a proof. */
function repetitionComplaint(
  step: Step,
  { fact, before, after, effects }: Moment,
  result: string,
  isChanged: boolean,
): string | null {
  if (!isChanged && !isQuiet(effects)) return 'effects without a change';
  if (!isChanged && after !== before) return 'nothing changed, but the worker is another object';
  const again = step(after, { ...fact, seq: fact.seq + 1 });
  if (again.worker !== after && JSON.stringify(again.worker) !== result)
    return 'a repeated fact changed the worker';
  return isQuiet(again.effects) ? null : 'a repeated fact had effects';
}

/** What must never happen. */
function safetyComplaint(moment: Moment): string | null {
  const { fact, why, before, after, from, to, notes, policy } = moment;
  const attempts = (after.deploy?.attempts ?? []).map(({ deploymentId }) => deploymentId);
  const isMergeKnown = notes.facts.some(({ kind }) => kind === 'merged');
  const wasAccepted = why === 'accept';

  if (from === 'done' && (to !== 'done' || JSON.stringify(before.deploy) !== JSON.stringify(after.deploy)))
    return 'done changed';
  if (from === 'exhausted' && fact.kind !== 'person' && to !== 'exhausted')
    return 'an exhausted worker moved without a person';
  if (attempts.length > 3) return 'more than three attempts';
  if (new Set(attempts).size !== attempts.length) return 'a deployment was counted twice';
  if (from !== to && to === 'done' && !wasAccepted) {
    if (!isMergeKnown || after.merge === null) return 'done without a merge';
    if (!policy.skipDeployVerification && !(why === 'success' && isOurs(moment)))
      return 'done without a production success';
  }
  if (to === 'merged' && !isMergeKnown) return 'merged without a merge';
  if (from !== to && to === 'deploying' && !isOurs(moment)) return 'deploying by a foreign deployment';
  if (from === 'failed' && to === 'deploying' && fact.kind === 'deployment' && notes.failed.includes(fact.id))
    return 'deploying by a deployment that had failed';
  if (attempts.some((id) => !notes.facts.some((earlier) => failedBy(earlier, id))))
    return 'an attempt that never failed';
  if (from !== to && !arrows.has(`${from} -${why}-> ${to}`)) return `no such move: ${from} -${why}-> ${to}`;
  return null;
}

/** What must happen. */
function progressComplaint(moment: Moment): string | null {
  const { fact, why, before, after, from, to, notes, policy } = moment;
  const must = (wanted: State): string | null =>
    to === wanted ? null : `${from} did not become ${wanted} at ${why}`;
  const isLate = Date.parse(fact.at) >= notes.clockFrom + policy.timeoutSec * 1000;
  const claimIsOpen = before.claim?.status === 'done';

  if (why === 'merged' && from === 'open') return must(policy.skipDeployVerification ? 'done' : 'merged');
  if (why === 'time') return must(isWaiting(from) && isLate ? 'stalled' : from);
  if (why === 'retry') return must(['failed', 'exhausted', 'stalled'].includes(from) ? 'merged' : from);
  if (why === 'accept') return must(claimIsOpen || !['open', 'canceled'].includes(from) ? 'done' : from);
  if (fact.kind === 'claimed' && ['open', 'canceled'].includes(from) && !needsProof(fact.status))
    return after.status === fact.status ? null : 'a claim was not accepted';
  if (!isOurs(moment) || fact.kind !== 'deployment')
    return from === to || why === 'claimed' ? null : must(from);
  if (why === 'success') return must(isWaiting(from) || from === 'stalled' ? 'done' : from);
  if (why === 'start' && isWaiting(from) && idsSeenBefore(moment).every((id) => id < fact.id))
    return must('deploying');
  if (why !== 'failure') return null;

  const failed = failedNow(moment);
  if (failed.join() !== (after.deploy?.attempts ?? []).map(({ deploymentId }) => deploymentId).join())
    return 'the attempts are not the failed deployments';
  if (failed.length === notes.failed.length) return must(from);
  if (isWaiting(from) && failed.length === 3) return must('exhausted');
  const isNewest = idsSeenBefore(moment).every((id) => id <= fact.id);
  return isWaiting(from) && (from !== 'deploying' || isNewest) ? must('failed') : null;
}

function effectComplaint(moment: Moment): string | null {
  const { fact, why, before, after, from, to, effects, notes, policy } = moment;
  const count = (kind: DeployEffect['kind']) => effects.filter((effect) => effect.kind === kind).length;
  const reports = (topic: string) =>
    effects.some((effect) => effect.kind === 'report' && effect.topic === topic);
  const entered = (state: State) => from !== to && to === state;
  const isClaim = why === 'claimed' && ['open', 'canceled'].includes(to);

  if (count('write-signal') > 1) return 'the signal file is written twice';
  if ((isClaim || from === 'done') && count('write-signal') > 0) return 'the signal file is written back';
  if (from !== to && !isClaim && count('write-signal') === 0) return 'the signal file was not written';
  if (count('move-ticket') !== (entered('done') ? 1 : 0)) return 'the ticket was not moved once, at done';
  if (reports('succeeded') !== (entered('done') && why === 'success'))
    return 'success was not reported correctly';
  if (reports('failed') !== failures(after) > failures(before)) return 'an attempt was not reported once';
  if (entered('deploying') && !reports('started')) return 'the start was not reported';
  if (
    entered('merged') &&
    after.merge?.sha === null &&
    why === 'merged' &&
    count('refresh-pull-request') === 0
  )
    return 'the unknown merge commit was not requested';

  const mayBeOurs = (isWaiting(from) || from === 'stalled') && (before.merge?.sha ?? null) !== null;
  const isForeign =
    fact.kind === 'deployment' &&
    fact.state !== 'inactive' &&
    fact.environment.toUpperCase() === policy.productionEnvironment.toUpperCase() &&
    fact.sha !== before.merge?.sha &&
    !notes.proven.has(fact.sha);
  if (count('prove') !== (isForeign && mayBeOurs && policy.acceptDescendants ? 1 : 0))
    return 'a proof was not requested as needed';

  return attentionComplaint(moment);
}

/** The open reasons match the current state: none is missing, none is left over. */
function attentionComplaint({ after, to, effects, notes }: Moment): string | null {
  for (const effect of effects) {
    if (effect.kind === 'raise') notes.attention.add(effect.reason);
    if (effect.kind === 'resolve' && !notes.attention.delete(effect.reason))
      return `resolved what was not open: ${effect.reason}`;
  }
  const check = (reason: string, isExpected: boolean) =>
    notes.attention.has(reason) === isExpected
      ? null
      : `${reason} is ${isExpected ? 'missing' : 'left open'}`;
  const isClaimedDone = after.claim?.status === 'done';
  return (
    check('deploy-timeout', to === 'stalled') ??
    check('deploy-budget-exhausted', to === 'exhausted') ??
    check('deploy-failed', to === 'failed') ??
    (['open', 'canceled'].includes(to) || !isClaimedDone ? check('done-unproven', isClaimedDone) : null)
  );
}

function takeNotes(moment: Moment): void {
  const { fact, why, before, after, from, to, notes } = moment;
  if (from !== to && to === 'merged') {
    notes.clockFrom = Date.parse(why === 'retry' ? fact.at : (after.merge?.at ?? ''));
    notes.failedBefore = Math.max(notes.failedBefore, ...notes.failed);
    notes.failed = [];
  }
  notes.failed = failedNow(moment);
  if (fact.kind === 'contains' && before.deploy !== null && from !== 'done') notes.proven.add(fact.sha);
}

/** The failed deployments including this fact: each once, at most three, none from before the last retry. */
function failedNow(moment: Moment): number[] {
  const { fact, why, from, notes } = moment;
  if (fact.kind !== 'deployment' || why !== 'failure' || !isOurs(moment)) return notes.failed;
  if (!(isWaiting(from) || from === 'stalled') || fact.id <= notes.failedBefore) return notes.failed;
  return [...new Set([...notes.failed, fact.id])].slice(0, 3);
}

/** A deployment to production of the merge, or of a commit proven to contain it. */
function isOurs({ fact, before, policy, notes }: Moment): boolean {
  if (
    fact.kind !== 'deployment' ||
    fact.environment.toUpperCase() !== policy.productionEnvironment.toUpperCase()
  )
    return false;
  if (before.merge === null || before.merge.sha === null) return false;
  return fact.sha === before.merge.sha || (policy.acceptDescendants && notes.proven.has(fact.sha));
}

function idsSeenBefore({ notes }: Moment): number[] {
  return notes.facts.slice(0, -1).flatMap((fact) => (fact.kind === 'deployment' ? [fact.id] : []));
}

function failedBy(fact: DeployFact, id: number): boolean {
  return fact.kind === 'deployment' && fact.id === id && (fact.state === 'failure' || fact.state === 'error');
}

function stateOf({ status, deploy }: DeployWorker): State {
  if (status === 'deploy-failed') return deploy?.result === 'budget-exhausted' ? 'exhausted' : 'failed';
  if (status === 'merged' || status === 'deploying' || status === 'done' || status === 'canceled')
    return status;
  return status === 'stalled' && deploy !== null ? 'stalled' : 'open';
}

function whyOf(fact: DeployFact): string {
  if (fact.kind === 'person') return fact.action;
  if (fact.kind !== 'deployment') return fact.kind;
  if (fact.state === 'success' || fact.state === 'inactive') return fact.state;
  return fact.state === 'failure' || fact.state === 'error' ? 'failure' : 'start';
}

function failures({ deploy }: DeployWorker): number {
  return deploy?.attempts.length ?? 0;
}

function isQuiet(effects: DeployEffect[]): boolean {
  return effects.every(({ kind }) => kind === 'prove');
}

function isWaiting(state: State): boolean {
  return state === 'merged' || state === 'deploying' || state === 'failed';
}

function needsProof(status: WorkerStatus): boolean {
  return ['merged', 'deploying', 'deploy-failed', 'done'].includes(status);
}
