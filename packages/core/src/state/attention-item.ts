// Something that needs a person: one item per orchestrator, ticket and reason (and feed), however often it is
// raised, until its cause is gone or a person says so.
export type AttentionItem = {
  /** `<orchestrator or ->/<ticket or feed or ->/<reason>`. */
  id: string;
  orchestrator: string | null;
  ticket: string | null;
  feed: string | null;
  reason: string;
  message: string;
  remedy: string | null;
  severity: string;
  /** Who said it last: the daemon itself, or a program of the user that reported it. */
  reportedBy: 'svc' | 'helper';
  openedAt: string;
  openedSeq: number;
  /** The lines that raised it, newest last, at most 20. */
  evidence: number[];
  times: number;
  acknowledged: { by: string; at: string } | null;
  snoozedUntil: string | null;
  /** To whom it was given last, and by whom; null while it is nobody's in particular. */
  handedOver: { to: string; by: string; at: string; note: string | null } | null;
};
