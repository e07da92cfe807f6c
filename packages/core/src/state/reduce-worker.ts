// A worker after one more line of its own: what the signal file says and whether its process lives. Which of
// the file's words on the status are believed, the deploy lifecycle decides.
import { type DeployPolicy, defaultDeployPolicy } from '../deploy/policy.ts';
import { noReactions, reactionCauses } from '../orchestrate/reaction-causes.ts';
import { asFields, type Fields, flagAt, integerAt, objectAt, textAt } from '../receive/payload-fields.ts';
import { repoOfSignal, type SignalFile, type WorkerPhase, type WorkerStatus } from '../runs/signal-file.ts';
import { isAgentsWork, workerStatuses } from '../runs/worker-statuses.ts';
import type { FoldedLine, Worker } from './board-types.ts';
import { shortTextAt, timeOf } from './line-fields.ts';

const statuses: ReadonlySet<string> = new Set(workerStatuses);
const pullRequestNumber = /\/pull\/(\d{1,9})(?:[/?#]|$)/;

/** `workerKey('run-1', 'ENG-42')` */
export function workerKey(orchestrator: string, ticket: string): string {
  return `${orchestrator}/${ticket}`;
}

export function reduceWorker(known: Worker | undefined, line: FoldedLine): Worker | undefined {
  const { orchestrator, ticket } = line.scope;
  if (orchestrator === undefined || ticket === undefined) return known;
  const before = known ?? unknownWorker(orchestrator, ticket, line);
  const { detail, event, seq, ts } = line;
  const touched = { ...before, policy: policyIn(detail) ?? before.policy, lastSeq: seq, lastAt: ts };
  switch (event) {
    case 'orchestrator.worker.removed':
      return known && { ...touched, removed: true };
    case 'orchestrator.worker.corrupt': {
      const path = shortTextAt(detail, 'path') ?? '';
      return {
        ...touched,
        corrupt: { path, problem: shortTextAt(detail, 'problem') ?? '', seq },
        removed: false,
      };
    }
    case 'orchestrator.worker.died':
      return withSignal(withLife(touched, 'dead', flagAt(detail, 'willRevive') ?? false, line), line);
    case 'orchestrator.worker.retried':
      return known && withRetry(touched, line);
    case 'orchestrator.worker.recalled':
      return known && withRecall(touched, line);
    case 'orchestrator.verification.started':
    case 'orchestrator.verification.passed':
    case 'orchestrator.verification.failed':
      return known && { ...touched, verification: verificationIn(line) };
    case 'orchestrator.verification.remediation_filed':
      return known && withRemediation(touched, line);
    case 'orchestrator.worker.revived':
      return withSignal(withLife(touched, 'alive', false, line), line);
    default:
      return withSignal(touched, line);
  }
}

/** The status that a line claims; undefined when it carries neither a file nor a word of its own. */
export function claimedStatus({ event, detail }: FoldedLine): WorkerStatus | undefined {
  if (event === 'orchestrator.worker.removed' || event === 'orchestrator.worker.corrupt') return undefined;
  // Before the file says so: what is canceled would count as complete until then.
  if (event === 'orchestrator.worker.retried') return 'dispatched';
  if (!event.startsWith('orchestrator.worker.')) return undefined;
  const said =
    objectAt(detail, 'signal')['status'] ?? (event.endsWith('.status_changed') ? detail['to'] : undefined);
  return isStatus(said) ? said : undefined;
}

function verificationIn({ event, detail, scope, seq }: FoldedLine): Worker['verification'] {
  const ended = event.endsWith('.passed') ? 'passed' : 'failed';
  return {
    state: event.endsWith('.started') ? 'running' : ended,
    sha: scope.mergeSha ?? scope.sha ?? null,
    summary: shortTextAt(detail, 'summary') ?? null,
    advisory: flagAt(detail, 'advisory') ?? false,
    remediation: null,
    seq,
  };
}

/** What was counted against it begins anew, and its old process is nobody's concern any more. */
function withRetry(worker: Worker, line: FoldedLine): Worker {
  const life = { state: 'unknown', since: timeOf(line), seq: line.seq } as const;
  return { ...worker, retriedAt: timeOf(line), life, reactions: noReactions, recall: null, recalls: 0 };
}

function withRemediation(worker: Worker, { detail }: FoldedLine): Worker {
  if (worker.verification === null) return worker;
  const remediation = shortTextAt(detail, 'filedAs') ?? textAt(detail, 'destination') ?? 'filed';
  return { ...worker, verification: { ...worker.verification, remediation } };
}

function withRecall(worker: Worker, { detail, seq, ts }: FoldedLine): Worker {
  const cause = reactionCauses.find((one) => one === detail['reason']);
  return cause === undefined ? worker : { ...worker, recall: { cause, at: ts, seq } };
}

/** A new process ends the call for one. In a status that is the agent's work it was a revival. */
function recallAfter(worker: Worker, told: Fields): Pick<Worker, 'recall' | 'recalls'> {
  const { recall, recalls, signal, status } = worker;
  const pid = integerAt(told, 'pid');
  if (recall === null || pid === undefined || pid === signal?.pid) return { recall, recalls };
  return { recall: null, recalls: isAgentsWork(status) ? recalls : recalls + 1 };
}

function withLife(worker: Worker, state: 'alive' | 'dead', reviving: boolean, line: FoldedLine): Worker {
  const isSame = worker.life.state === state;
  const { since, seq } = isSame ? worker.life : { since: timeOf(line), seq: line.seq };
  const stderr = state === 'dead' ? shortTextAt(line.detail, 'stderr') : undefined;
  const life = { state, since, seq, ...(reviving && { reviving }), ...(stderr && { stderr }) };
  return { ...worker, life };
}

/** A readable file ends what was said of a corrupt or a missing one. */
function withSignal(worker: Worker, { detail, scope }: FoldedLine): Worker {
  const told = asFields(detail['signal']);
  if (told === undefined) return { ...worker, repo: worker.repo ?? scope.repo ?? null };
  const pr = objectAt(told, 'pr');
  const url = shortTextAt(pr, 'url') ?? null;
  const number = integerAt(pr, 'number') ?? numberIn(url);
  return {
    ...worker,
    name: shortTextAt(told, 'workerName') ?? worker.name,
    phase: phaseIn(told) ?? worker.phase,
    repo: repoOfSignal({ repo: shortTextAt(told, 'repo'), pr: { url } }) ?? scope.repo ?? worker.repo,
    branch: shortTextAt(told, 'branch') ?? scope.branch ?? worker.branch,
    wave: integerAt(told, 'wave') ?? worker.wave,
    pr: number === undefined ? worker.pr : { number, url },
    ...recallAfter(worker, told),
    signal: isSignal(told) ? told : worker.signal,
    hash: textAt(detail, 'hash') ?? worker.hash,
    corrupt: null,
    removed: false,
  };
}

function numberIn(url: string | null): number | undefined {
  const [, digits] = pullRequestNumber.exec(url ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function phaseIn({ phase }: Fields): WorkerPhase | undefined {
  if (typeof phase === 'string') return phase.slice(0, 200);
  return Number.isSafeInteger(phase) ? (phase as number) : undefined;
}

/** The watcher has checked the file; a line that was cut since may lack what it must have. */
function isSignal(told: Fields): told is SignalFile {
  return (
    isStatus(told['status']) &&
    ['ticket', 'orchestrator', 'workerName', 'startedAt', 'updatedAt'].every(
      (name) => typeof told[name] === 'string',
    )
  );
}

function isStatus(value: unknown): value is WorkerStatus {
  return typeof value === 'string' && statuses.has(value);
}

function policyIn(detail: Fields): DeployPolicy | undefined {
  const policy = asFields(detail['policy']);
  if (policy === undefined) return undefined;
  const timeoutSec = integerAt(policy, 'timeoutSec');
  const productionEnvironment = textAt(policy, 'productionEnvironment');
  const stagingEnvironment = textAt(policy, 'stagingEnvironment');
  const skipDeployVerification =
    policy['skipDeployVerification'] === null ? null : flagAt(policy, 'skipDeployVerification');
  const acceptDescendants = flagAt(policy, 'acceptDescendants');
  if (timeoutSec === undefined || timeoutSec <= 0) return undefined;
  if (productionEnvironment === undefined || stagingEnvironment === undefined) return undefined;
  if (skipDeployVerification === undefined || acceptDescendants === undefined) return undefined;
  return { timeoutSec, productionEnvironment, stagingEnvironment, skipDeployVerification, acceptDescendants };
}

function unknownWorker(orchestrator: string, ticket: string, line: FoldedLine): Worker {
  const since = timeOf(line);
  return {
    key: workerKey(orchestrator, ticket),
    orchestrator,
    ticket,
    name: line.scope.worker ?? ticket,
    status: 'dispatched',
    statusSince: since,
    statusSeq: line.seq,
    claim: null,
    policy: defaultDeployPolicy,
    merge: null,
    deploy: null,
    phase: null,
    repo: null,
    branch: null,
    wave: null,
    pr: null,
    signal: null,
    hash: null,
    life: { state: 'unknown', since, seq: line.seq },
    corrupt: null,
    removed: false,
    verification: null,
    retriedAt: null,
    reactions: noReactions,
    recall: null,
    recalls: 0,
    raised: [],
    proofsAsked: [],
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}
