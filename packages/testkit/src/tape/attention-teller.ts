// Tells of what needs a person, and of what the person says to it.
import type { Person, PlannedTicket } from './product.ts';
import { type Told, tellInto } from './told.ts';

export function createAttentionTeller(told: Told, { ticket, repo, run }: PlannedTicket) {
  const { voice } = told;
  const orchestrator = run?.id ?? 'none';
  const tell = tellInto(told);
  return {
    asks(at: number, reason: string, message: string, severity: string, remedy?: string): void {
      tell(at, {
        way: 'event',
        draft: () => ({
          event: 'comms.attention',
          scope: { ticket, repo, orchestrator },
          detail: { reason, message: voice.comment(message), severity, ...(remedy && { remedy }) },
        }),
      });
    },
    acknowledged(at: number, reason: string, by: Person): void {
      const scope = { ticket, orchestrator };
      tell(at, {
        way: 'event',
        draft: () => ({ event: 'comms.attention_acknowledged', scope, detail: { reason, by } }),
      });
    },
    snoozed(at: number, reason: string, by: Person, minutes: number): void {
      const scope = { ticket, orchestrator };
      tell(at, {
        way: 'event',
        draft: (date) => ({
          event: 'comms.attention_snoozed',
          scope,
          detail: { reason, by, until: new Date(date.getTime() + minutes * 60_000).toISOString() },
        }),
      });
    },
  };
}
