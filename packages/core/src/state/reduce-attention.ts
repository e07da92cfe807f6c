// An attention item after one more line of its own; undefined once it is resolved. Raising an open one again
// adds evidence and counts; it stays acknowledged, snoozed and with whom it was handed to.
import { timeAt } from '../receive/payload-fields.ts';
import type { AttentionItem, FoldedLine } from './board-types.ts';
import { shortTextAt } from './line-fields.ts';

const MOST_EVIDENCE = 20;

/** `attentionId({ orchestrator: 'run-1', ticket: 'ENG-42', reason: 'worker-dead' })` */
export function attentionId(about: {
  orchestrator: string | null | undefined;
  ticket: string | null | undefined;
  feed?: string | null | undefined;
  reason: string;
}): string {
  return `${about.orchestrator ?? '-'}/${about.ticket ?? about.feed ?? '-'}/${about.reason}`;
}

/** The item that a line is about; undefined when it names no reason. */
export function attentionIdOf({ scope, detail }: FoldedLine): string | undefined {
  const reason = shortTextAt(detail, 'reason');
  if (reason === undefined) return undefined;
  const { orchestrator, ticket } = scope;
  return attentionId({ orchestrator, ticket, feed: shortTextAt(detail, 'feed'), reason });
}

export function reduceAttention(
  known: AttentionItem | undefined,
  line: FoldedLine,
): AttentionItem | undefined {
  switch (line.event) {
    case 'comms.attention':
      return raised(known, line);
    case 'comms.attention_resolved':
      return undefined;
    case 'comms.attention_acknowledged': {
      const by = shortTextAt(line.detail, 'by') ?? line.actor?.login ?? 'unknown';
      return known && { ...known, acknowledged: { by, at: line.ts } };
    }
    case 'comms.attention_snoozed': {
      const snoozedUntil = timeAt(line.detail, 'until');
      return snoozedUntil === undefined ? known : known && { ...known, snoozedUntil };
    }
    case 'comms.attention_handed_over':
      return known && handedOver(known, line);
    default:
      return known;
  }
}

/** The last word counts: whoever has it may hand it on. */
function handedOver(known: AttentionItem, { detail, actor, ts }: FoldedLine): AttentionItem {
  const to = shortTextAt(detail, 'to');
  if (to === undefined) return known;
  const by = shortTextAt(detail, 'by') ?? actor?.login ?? 'unknown';
  return { ...known, handedOver: { to, by, at: ts, note: shortTextAt(detail, 'note') ?? null } };
}

function raised(known: AttentionItem | undefined, line: FoldedLine): AttentionItem | undefined {
  const { detail, scope } = line;
  const id = attentionIdOf(line);
  const reason = shortTextAt(detail, 'reason');
  if (id === undefined || reason === undefined) return known;
  const { orchestrator = null, ticket = null } = scope;
  return {
    id,
    orchestrator,
    ticket,
    feed: shortTextAt(detail, 'feed') ?? null,
    reason,
    message: shortTextAt(detail, 'message') ?? known?.message ?? reason,
    remedy: shortTextAt(detail, 'remedy') ?? known?.remedy ?? null,
    severity: shortTextAt(detail, 'severity') ?? known?.severity ?? 'medium',
    reportedBy: line.reporter ?? 'svc',
    openedAt: known?.openedAt ?? line.ts,
    openedSeq: known?.openedSeq ?? line.seq,
    evidence: [...new Set([...(known?.evidence ?? []), ...evidenceIn(line)])].slice(-MOST_EVIDENCE),
    times: (known?.times ?? 0) + 1,
    acknowledged: known?.acknowledged ?? null,
    snoozedUntil: known?.snoozedUntil ?? null,
    handedOver: known?.handedOver ?? null,
  };
}

/** The lines that it was concluded from; without any, the line itself is the evidence. */
function evidenceIn({ detail, seq }: FoldedLine): number[] {
  const { evidence } = detail;
  const seqs = Array.isArray(evidence)
    ? evidence.slice(-MOST_EVIDENCE).filter((item) => Number.isSafeInteger(item) && item > 0)
    : [];
  return seqs.length > 0 ? seqs : [seq];
}
