// The words for a span of the trace, on the ticket's page and on the command line.
import { reasonWords } from '../attention/reason-words.ts';
import { statusWords } from '../workers/worker-label.ts';
import type { TraceSpan } from './trace-span.ts';

/** How the label of a wait for a person begins; its reason follows. */
export const NEEDS = 'Needs a person: ';

/** What the agent waits for, by the reason of its attention item. */
const waits: Record<string, string> = {
  'agent-needs-permission': 'your permission',
  'agent-needs-input': 'your answer',
  question: 'your answer',
};

function waitLabel(label: string, isOver: boolean): string {
  if (!label.startsWith(NEEDS)) return label;
  const reason = label.slice(NEEDS.length);
  const wait = Object.hasOwn(waits, reason) ? waits[reason] : undefined;
  if (wait !== undefined) return `${isOver ? 'Waited' : 'Waiting'} for ${wait}`;
  return `${isOver ? 'Needed you' : 'Needs you'}: ${reasonWords(reason)}`;
}

/** A phase shows its status, a wait for a person what it waited for; other spans show their own label. */
export function spanLabel({ kind, label, state, end }: TraceSpan, isProven: boolean): string {
  if (kind === 'wait') return waitLabel(label, end !== null);
  if (kind !== 'phase') return label;
  return state === 'succeeded' && !isProven ? `${statusWords(label)}, claimed` : statusWords(label);
}

export const spanStates: Record<TraceSpan['state'], string> = {
  running: 'in progress',
  succeeded: 'succeeded',
  failed: 'failed',
  ended: 'ended',
};
