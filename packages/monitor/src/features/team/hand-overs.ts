// Items that another member has handed over. They stay with their owner until a machine of the person has them: it has
// everything that was published before the heartbeat of this machine that it has heard.

import type { Board } from '../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import type { AttentionItem } from '../attention/entity.ts';
import type { createPublisher } from './io/publisher.ts';

/** The lines of a heartbeat of a machine of `person`, which has heard this machine's heartbeat of the version `heard`. */
export function receivedHandOvers(
  board: Board,
  publisher: Pick<ReturnType<typeof createPublisher>, 'hadBefore'>,
  { person, heard }: { person: string; heard: number },
): EventDraft[] {
  return [...board.attention.values()]
    .filter(({ handedOver }) => handedOver?.pending === true && handedOver.to === person)
    .filter((item) =>
      publisher.hadBefore(
        heard,
        item.id,
        (value) => (value as AttentionItem).handedOver?.at === item.handedOver?.at,
      ),
    )
    .map(({ reason, feed, orchestrator, ticket, session, handedOver }) =>
      draft(
        'comms.attention_handed_over',
        {
          ...(orchestrator !== null && { orchestrator }),
          ...(ticket !== null && { ticket }),
          ...(session !== null && { session }),
        },
        { reason, ...(feed !== null && { feed }), to: person, by: handedOver?.by ?? '', received: true },
      ),
    );
}
