// An attention item after one more of its events; undefined once it is resolved. Raising an open item again adds
// evidence and a count; its acknowledgement, snooze and owner stay.
import { cutText } from '@svc/lib/cut-text';
import type { LineOf } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import type { AttentionItem } from './attention-item.ts';

const MOST_EVIDENCE = 20;
/** A permission request is shown whole. */
const LONGEST_MESSAGE = 4_500;

export const attentionTopics = [
  'comms.attention',
  'comms.attention_resolved',
  'comms.attention_acknowledged',
  'comms.attention_snoozed',
  'comms.attention_handed_over',
  'comms.attention_undone',
] as const;
export type AttentionLine = LineOf<(typeof attentionTopics)[number]>;

/** `attentionId({ orchestrator: 'run-1', ticket: 'ENG-42', reason: 'worker-dead' })` */
export function attentionId(about: {
  orchestrator: string | null | undefined;
  ticket: string | null | undefined;
  feed?: string | null | undefined;
  session?: string | null | undefined;
  reason: string;
}): string {
  return `${about.orchestrator ?? '-'}/${about.ticket ?? about.feed ?? about.session ?? '-'}/${about.reason}`;
}

/** The item that a line is about; undefined when the line has no reason. */
export function attentionIdOf({ scope, detail }: AttentionLine): string | undefined {
  const { reason, feed } = detail;
  if (reason === undefined) return undefined;
  const { orchestrator, ticket, session } = scope;
  return attentionId({ orchestrator, ticket, feed: short(feed), session, reason });
}

export function reduceAttention(
  known: AttentionItem | undefined,
  line: AttentionLine,
): AttentionItem | undefined {
  switch (line.event) {
    case 'comms.attention':
      return raised(known, line);
    case 'comms.attention_resolved':
      return undefined;
    case 'comms.attention_acknowledged': {
      const by = short(line.detail.by) ?? line.actor?.login ?? 'unknown';
      return known && { ...known, acknowledged: { by, at: line.ts } };
    }
    case 'comms.attention_snoozed': {
      const { until: snoozedUntil } = line.detail;
      return snoozedUntil === undefined ? known : known && { ...known, snoozedUntil };
    }
    case 'comms.attention_handed_over':
      return known && handedOver(known, line);
    case 'comms.attention_undone':
      return known;
  }
}

/**
 * The latest hand-over counts; the new owner may hand it over again. What another member handed over stays here until that
 * person has it.
 */
function handedOver(
  known: AttentionItem,
  { detail, actor, ts }: LineOf<'comms.attention_handed_over'>,
): AttentionItem {
  const to = short(detail.to);
  if (to === undefined) return known;
  const before = known.handedOver;
  if (detail.received === true) {
    if (before === null || before.to !== to) return known;
    const { pending: _pending, ...received } = before;
    return { ...known, handedOver: received };
  }
  const by = short(detail.by) ?? actor?.login ?? 'unknown';
  const pending = detail.received === false ? { pending: true as const } : {};
  return { ...known, handedOver: { to, by, at: ts, note: short(detail.note) ?? null, ...pending } };
}

function raised(
  known: AttentionItem | undefined,
  line: LineOf<'comms.attention'>,
): AttentionItem | undefined {
  const { detail, scope } = line;
  const id = attentionIdOf(line);
  const { reason } = detail;
  if (id === undefined || reason === undefined) return known;
  const { orchestrator = null, ticket = null, session = null } = scope;
  return {
    id,
    orchestrator,
    ticket,
    feed: short(detail.feed) ?? null,
    session,
    reason,
    message: detail.message ? cutText(detail.message, LONGEST_MESSAGE) : (known?.message ?? reason),
    remedy: short(detail.remedy) ?? known?.remedy ?? null,
    severity: detail.severity ?? known?.severity ?? 'medium',
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

/** The lines that it is based on; without any, the line itself. */
function evidenceIn({ detail: { evidence = [] }, seq }: LineOf<'comms.attention'>): number[] {
  return evidence.length > 0 ? evidence.slice(-MOST_EVIDENCE) : [seq];
}
