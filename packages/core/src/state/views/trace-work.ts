// What the worker itself did: its phases by status, what it waited for, the verification of its merge.
import { isEnded } from '../../deploy/standing.ts';
import { asFields, textAt } from '../../receive/payload-fields.ts';
import { WorkerStatus } from '../../runs/signal-file.ts';
import type { FoldedLine } from '../board-shape.ts';
import { shortTextAt } from '../line-fields.ts';
import type { SpanList, TraceState } from './trace-span.ts';

const outcomes: Partial<Record<WorkerStatus, Exclude<TraceState, 'running'>>> = {
  done: 'succeeded',
  failed: 'failed',
  'deploy-failed': 'failed',
  stalled: 'failed',
  canceled: 'ended',
};

export function traceWork(spans: SpanList): (line: FoldedLine) => void {
  let status: WorkerStatus | undefined;

  function moveTo(next: WorkerStatus | undefined, line: FoldedLine): void {
    if (next === undefined || next === status) return;
    if (status !== undefined) spans.close('phase', line, outcomes[status] ?? 'ended');
    status = next;
    // The last status is where the way ends, and not a stretch of it.
    if (isEnded(next)) spans.moment('phase', line, outcomes[next] ?? 'ended', { kind: 'phase', label: next });
    else spans.open('phase', line, { kind: 'phase', label: next });
  }

  return (line) => {
    const { event, detail } = line;
    const reason = shortTextAt(detail, 'reason') ?? '';
    switch (event) {
      case 'orchestrator.worker.status_changed':
        return moveTo(statusIn(detail['to']), line);
      case 'orchestrator.worker.dispatched':
      case 'orchestrator.worker.phase_changed':
      case 'orchestrator.worker.updated':
        return moveTo(statusOf(line), line);
      case 'orchestrator.worker.died':
        return spans.open('process', line, {
          kind: 'wait',
          label: 'Nothing runs',
          reason: 'the process of the worker is gone',
        });
      case 'orchestrator.worker.revived':
        return spans.close('process', line, 'ended');
      case 'orchestrator.verification.started':
        return spans.open('verification', line, { kind: 'verification', label: 'Verification' });
      case 'orchestrator.verification.passed':
      case 'orchestrator.verification.failed':
        return endVerification(spans, line);
      case 'comms.attention':
        return spans.open(`attention ${reason}`, line, {
          kind: 'wait',
          label: `Needs a person: ${reason}`,
          reason: shortTextAt(detail, 'message') ?? null,
        });
      case 'comms.attention_resolved':
        return spans.close(`attention ${reason}`, line, 'ended');
    }
  };
}

function endVerification(spans: SpanList, line: FoldedLine): void {
  const state = line.event.endsWith('passed') ? 'succeeded' : 'failed';
  const given = { reason: shortTextAt(line.detail, 'summary') ?? null };
  if (!spans.isOpen('verification'))
    return spans.moment('verification', line, state, {
      kind: 'verification',
      label: 'Verification',
      ...given,
    });
  spans.close('verification', line, state, given.reason === null ? {} : { reason: given.reason });
}

/** A worker that is told of for the first time has its status in its signal file. */
function statusOf({ event, detail }: FoldedLine): WorkerStatus | undefined {
  const told = statusIn(textAt(asFields(detail['signal']) ?? {}, 'status'));
  return told ?? (event === 'orchestrator.worker.dispatched' ? 'dispatched' : undefined);
}

function statusIn(value: unknown): WorkerStatus | undefined {
  const parsed = WorkerStatus.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
