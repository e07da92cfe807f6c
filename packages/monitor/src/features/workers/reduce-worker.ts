// A worker after one more of its events: the content of the signal file and the state of its process. Whether the status
// in the file is accepted is decided by the deploy lifecycle.

import { type Fields, integerAt, objectAt, textAt } from '@svc/contract/payload-fields';
import {
  repoOfSignal,
  type SignalFile,
  type WorkerPhase,
  type WorkerStatus,
} from '@svc/contract/signal-file';
import { isAgentsWork, workerStatuses } from '@svc/contract/worker-statuses';
import type { LineOf } from '../../kernel/board/fold-context.ts';
import { short, timeOf } from '../../kernel/board/line-values.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { nothingSpent } from './agent-fields.ts';
import { defaultDeployPolicy } from './deploy-fields.ts';
import { noReactions } from './reaction-causes.ts';
import { neverWaited } from './waits.ts';
import type { Worker } from './worker.ts';

export type WorkerTopic = Extract<Topic, `orchestrator.worker.${string}`>;
/** Events of the worker's file and its process; they may contain the file. */
const fileTopics = topicsIn('orchestrator.worker', [
  'dispatched',
  'status_changed',
  'phase_changed',
  'updated',
  'died',
  'revived',
]);
type FileTopic = (typeof fileTopics)[number];

const statuses: ReadonlySet<string> = new Set(workerStatuses);
const pullRequestNumber = /\/pull\/(\d{1,9})(?:[/?#]|$)/;

/** `workerKey('run-1', 'ENG-42')` */
export function workerKey(orchestrator: string, ticket: string): string {
  return `${orchestrator}/${ticket}`;
}

export function reduceWorker(known: Worker | undefined, line: LineOf<WorkerTopic>): Worker | undefined {
  const { orchestrator, ticket } = line.scope;
  if (orchestrator === undefined || ticket === undefined) return known;
  const before = known ?? unknownWorker(orchestrator, ticket, line);
  const { seq } = line;
  const touched = { lastSeq: seq, lastAt: line.ts };
  switch (line.event) {
    case 'orchestrator.worker.corrupt': {
      const { path, problem } = line.detail;
      return {
        ...before,
        ...touched,
        corrupt: { path: short(path) ?? '', problem: short(problem) ?? '', seq, at: line.ts },
        removed: false,
      };
    }
    case 'orchestrator.worker.retried':
      return known && { ...withRetry(known, line), ...touched };
    case 'orchestrator.worker.recalled':
      return known && { ...withRecall(known, line), ...touched };
    case 'orchestrator.worker.removed':
      return known && { ...known, ...touched, removed: true };
    case 'orchestrator.worker.dispatched':
    case 'orchestrator.worker.status_changed':
    case 'orchestrator.worker.phase_changed':
    case 'orchestrator.worker.updated':
    case 'orchestrator.worker.died':
    case 'orchestrator.worker.revived': {
      const next = withSignal(before, line);
      const first = {
        repo: before.first.repo ?? next.repo,
        startedAt: before.first.startedAt ?? next.signal?.startedAt ?? null,
      };
      return { ...next, first, process: processAfter(before, line), ...touched };
    }
  }
}

/** The status that a line claims; undefined when it has neither a file nor a status. */
export function claimedStatus(line: LineOf): WorkerStatus | undefined {
  // Before the file is updated: until then, a canceled worker would count as complete.
  if (line.event === 'orchestrator.worker.retried') return 'dispatched';
  if (!mayHaveFile(line)) return undefined;
  const status = line.detail.signal?.['status'];
  return statusIn(line.event === 'orchestrator.worker.status_changed' ? (status ?? line.detail.to) : status);
}

/** Counts start again at zero, and the state of its old process no longer matters. */
function withRetry(worker: Worker, line: LineOf<WorkerTopic>): Worker {
  const process = { state: 'unknown', since: timeOf(line), seq: line.seq } as const;
  return { ...worker, retriedAt: timeOf(line), process, reactions: noReactions, recall: null, recalls: 0 };
}

function withRecall(worker: Worker, { detail, seq, ts }: LineOf<'orchestrator.worker.recalled'>): Worker {
  const { reason: cause } = detail;
  return cause === undefined ? worker : { ...worker, recall: { cause, at: ts, seq } };
}

/** A new process fulfils the recall. In a status of agent work it was a revival instead. */
function recallAfter(worker: Worker, file: Fields): Pick<Worker, 'recall' | 'recalls'> {
  const { recall, recalls, signal, status } = worker;
  const pid = integerAt(file, 'pid');
  if (recall === null || pid === undefined || pid === signal?.pid) return { recall, recalls };
  return { recall: null, recalls: isAgentsWork(status) ? recalls : recalls + 1 };
}

function processAfter(worker: Worker, line: LineOf<FileTopic>): Worker['process'] {
  if (line.event !== 'orchestrator.worker.died' && line.event !== 'orchestrator.worker.revived')
    return worker.process;
  const state = line.event === 'orchestrator.worker.died' ? 'dead' : 'alive';
  const { since, seq } =
    worker.process.state === state ? worker.process : { since: timeOf(line), seq: line.seq };
  if (state === 'alive') return { state, since, seq };
  const { willRevive: reviving } = line.detail;
  const stderr = short(line.detail.stderr);
  return { state, since, seq, ...(reviving && { reviving }), ...(stderr && { stderr }) };
}

/** A readable file replaces a corrupt or missing one. */
function withSignal(worker: Worker, { detail, scope }: LineOf<FileTopic>): Worker {
  const { signal: file } = detail;
  if (file === undefined) return { ...worker, repo: worker.repo ?? scope.repo ?? null };
  const pr = objectAt(file, 'pr');
  const url = short(textAt(pr, 'url')) ?? null;
  const number = integerAt(pr, 'number') ?? numberIn(url);
  return {
    ...worker,
    name: short(textAt(file, 'workerName')) ?? worker.name,
    phase: phaseIn(file) ?? worker.phase,
    // Its merge was judged by these, so the file cannot change them any more.
    ...(worker.merge === null && {
      repo: repoOfSignal({ repo: short(textAt(file, 'repo')), pr: { url } }) ?? scope.repo ?? worker.repo,
    }),
    branch: worker.branch ?? short(textAt(file, 'branch')) ?? scope.branch ?? null,
    pr: number === undefined || isJudgedBy(worker, number) ? worker.pr : { number, url },
    wave: integerAt(file, 'wave') ?? worker.wave,
    ...recallAfter(worker, file),
    signal: isSignal(file) ? file : worker.signal,
    hash: detail.hash || worker.hash,
    corrupt: null,
    removed: false,
  };
}

/** Its merge was judged by another pull request than this one. */
function isJudgedBy({ merge, pr }: Worker, number: number): boolean {
  return merge !== null && pr !== null && pr.number !== number;
}

function numberIn(url: string | null): number | undefined {
  const [, digits] = pullRequestNumber.exec(url ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function phaseIn({ phase }: Fields): WorkerPhase | undefined {
  if (typeof phase === 'string') return phase.slice(0, 200);
  return Number.isSafeInteger(phase) ? (phase as number) : undefined;
}

/** The watcher has checked the file, but a line that was cut since may lack required fields. */
function isSignal(file: Fields): file is SignalFile {
  return (
    isStatus(file['status']) &&
    ['ticket', 'orchestrator', 'workerName', 'startedAt', 'updatedAt'].every(
      (name) => typeof file[name] === 'string',
    )
  );
}

function mayHaveFile(line: LineOf): line is LineOf<FileTopic> {
  return fileTopics.some((topic) => topic === line.event);
}

function statusIn(value: unknown): WorkerStatus | undefined {
  return isStatus(value) ? value : undefined;
}

function isStatus(value: unknown): value is WorkerStatus {
  return typeof value === 'string' && statuses.has(value);
}

function unknownWorker(orchestrator: string, ticket: string, line: LineOf<WorkerTopic>): Worker {
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
    first: { repo: null, startedAt: null },
    branch: null,
    wave: null,
    pr: null,
    signal: null,
    hash: null,
    process: { state: 'unknown', since, seq: line.seq },
    corrupt: null,
    removed: false,
    verification: null,
    retriedAt: null,
    reactions: noReactions,
    recall: null,
    recalls: 0,
    agent: null,
    spent: nothingSpent,
    waited: neverWaited,
    raised: [],
    given: null,
    unseenSeq: null,
    refuted: [],
    proofsAsked: [],
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}
