// Events that a program of the user reports.
import { Failure } from '../../../kernel/failure.ts';
import type { Appended } from '../../../kernel/log/dedupe.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { helperRefusal } from '../../helper-topics.ts';

/** An event reported by a user's program: refused if only a delivery or a person can state it, and marked as reported. */
export async function appendHelperFact(
  log: Pick<EventLog, 'appendOnce'>,
  draft: EventDraft,
): Promise<Appended> {
  const refused = helperRefusal(draft);
  if (refused !== undefined) throw new Failure('usage', refused.problem, refused.remedy);
  return log.appendOnce({ ...draft, reporter: 'helper' });
}
