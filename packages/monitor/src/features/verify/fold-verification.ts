// Events of verifications: their result is kept on the worker, and a failed one is filed.
import { ask, type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { short, textsIn } from '../../kernel/board/line-values.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { putReduced } from '../workers/fold-worker.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import type { Worker } from '../workers/worker.ts';

const judged = topicsIn('orchestrator.verification', ['started', 'passed', 'failed']);
const REMEDIATION_FILED = 'orchestrator.verification.remediation_filed';
type VerificationLine = LineOf<(typeof judged)[number] | typeof REMEDIATION_FILED>;

function foldVerification(context: FoldContext<VerificationLine['event']>): void {
  const { board, line } = context;
  const { orchestrator = '', ticket = '' } = line.scope;
  const known = board.workers.get(workerKey(orchestrator, ticket));
  if (known === undefined) return;
  const next = line.event === REMEDIATION_FILED ? withRemediation(known, line) : withResult(known, line);
  putReduced(context, { ...next, lastSeq: line.seq, lastAt: line.ts }, known);
}

function withResult(
  worker: Worker,
  { event, detail, scope, seq, ts }: LineOf<(typeof judged)[number]>,
): Worker {
  const ended = event.endsWith('.passed') ? 'passed' : 'failed';
  const verification: Worker['verification'] = {
    state: event.endsWith('.started') ? 'running' : ended,
    sha: scope.mergeSha ?? scope.sha ?? null,
    summary: short(detail.summary) ?? null,
    advisory: detail.advisory ?? false,
    remediation: null,
    seq,
    at: ts,
  };
  return { ...worker, verification };
}

function withRemediation(worker: Worker, { detail }: LineOf<typeof REMEDIATION_FILED>): Worker {
  if (worker.verification === null) return worker;
  const remediation = short(detail.filedAs) ?? detail.destination ?? 'filed';
  return { ...worker, verification: { ...worker.verification, remediation } };
}

/** A failed verification is filed as a ticket or finding. */
export function askForRemediation(context: FoldContext, worker: Worker): Worker {
  const { line } = context;
  const { key, orchestrator, ticket, verification } = worker;
  if (line.event !== 'orchestrator.verification.failed' || verification?.advisory !== false) return worker;
  const run = context.board.runs.get(orchestrator);
  const { sha, summary } = verification;
  const findings = textsIn(line.detail.findings);
  const project = run?.plan?.project ?? null;
  ask(context, key, { kind: 'file-remediation', orchestrator, ticket, project, sha, summary, findings });
  return worker;
}

export const verificationFolds: readonly Fold[] = [on([...judged, REMEDIATION_FILED], foldVerification)];
