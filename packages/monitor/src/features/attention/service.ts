// What needs a person, and how a person answers.

import type { Board } from '../../kernel/board/board.ts';
import type { FoldSteps } from '../../kernel/board/fold-context.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { EventContent } from '../../kernel/log/event-line.ts';
import type { api } from '../api.ts';
import { attentionView, handedTo } from './attention-view.ts';
import type { AttentionItem } from './entity.ts';

/** Who this machine belongs to in its team; undefined without a team. */
export type Person = () => string | undefined;

export function handedToPerson(board: Board, person: Person) {
  const own = person();
  return own === undefined ? [] : handedTo(board, own);
}

/** What needs a person, most urgent first, also what others of the team handed over to this person. */
export function attentionOf({
  state,
  person,
  now,
}: {
  state: StateAccess;
  person: Person;
  now: () => number;
}): ApiAnswer<typeof api.getAttention> {
  const board = boardOf(state);
  const others = handedToPerson(board, person).map(({ machine: id, value }) => ({
    ...value,
    machine: board.members.get(id)?.machine ?? id,
    person: board.members.get(id)?.person ?? 'unknown',
  }));
  return attentionView(board, now(), others);
}

export type AttentionAccess = { state: StateAccess; append: Append } & Pick<FoldSteps, 'causeStands'>;

/** What a person does with an item. */
export function attentionActions(options: AttentionAccess) {
  const { state, causeStands } = options;

  const itemOf = (id: string): AttentionItem => {
    const item = boardOf(state).attention.get(id);
    if (item !== undefined) return item;
    throw new Failure(
      'unknown-attention',
      `No open attention item has the id ${id}.`,
      'List the open items: svc attention',
    );
  };

  function refuseStanding(item: AttentionItem): void {
    if (!causeStands(boardOf(state), item)) return;
    const { id, message, remedy } = item;
    const snooze = `svc attention snooze ${id} --for 2h`;
    throw new Failure(
      'not-allowed-now',
      `${id} cannot be resolved: its cause still exists. ${message}.`,
      remedy === null ? `Hide it for a while: ${snooze}` : `${remedy}, or hide it for a while: ${snooze}`,
    );
  }

  async function record(
    item: AttentionItem,
    content: AttentionContent,
  ): Promise<{ ok: true; item: AttentionItem | null }> {
    const { orchestrator, ticket, session } = item;
    const scope = {
      ...(orchestrator !== null && { orchestrator }),
      ...(ticket !== null && { ticket }),
      ...(session !== null && { session }),
    };
    await appendAndWait(options, { ...content, source: 'cli', via: 'local', scope });
    return { ok: true, item: state.board().attention.get(item.id) ?? null };
  }

  return {
    async acknowledge({ id, by }: { id: string; by: string }) {
      const item = itemOf(id);
      if (item.acknowledged !== null) return { ok: true as const, item };
      return record(item, { event: 'comms.attention_acknowledged', detail: { ...namesOf(item), by } });
    },
    async snooze({ id, by, until }: { id: string; by: string; until: string }) {
      const item = itemOf(id);
      return record(item, { event: 'comms.attention_snoozed', detail: { ...namesOf(item), by, until } });
    },
    /** `isAsked`: by another machine of the team. In a team, only to one of its persons. */
    async handOver({
      id,
      by,
      to,
      note,
      isAsked = false,
    }: {
      id: string;
      by: string;
      to: string;
      note?: string | undefined;
      isAsked?: boolean;
    }) {
      const item = itemOf(id);
      const persons = new Set([...boardOf(state).members.values()].map(({ person }) => person));
      if (persons.size > 0 && !persons.has(to))
        throw new Failure(
          'usage',
          `No person of the team is named ${to}.`,
          `Hand it over to one of: ${[...persons].toSorted().join(', ')}`,
        );
      const detail = {
        ...namesOf(item),
        by,
        to,
        ...(note !== undefined && { note }),
        ...(isAsked && { received: false }),
      };
      return record(item, { event: 'comms.attention_handed_over', detail });
    },
    async resolve({ id, by }: { id: string; by: string }) {
      const item = itemOf(id);
      refuseStanding(item);
      const answer = await record(item, {
        event: 'comms.attention_resolved',
        detail: { ...namesOf(item), by },
      });
      // The cause came back while it was written: the board kept the item.
      if (answer.item !== null) refuseStanding(answer.item);
      return answer;
    },
    async undo({ id, by }: { id: string; by: string }) {
      const last = boardOf(state).undoable.get(id);
      const item = last?.before ?? itemOf(id);
      if (last === undefined)
        throw new Failure(
          'not-allowed-now',
          `Nobody has done anything with ${id} that can be undone.`,
          'List the open items: svc attention',
        );
      const detail = { ...namesOf(item), by, line: last.seq };
      const answer = await record(item, { event: 'comms.attention_undone', detail });
      return { ...answer, action: last.action };
    },
  };
}

type AttentionContent = Extract<EventContent, { event: `comms.attention_${string}` }>;

function namesOf({ reason, feed }: AttentionItem): { reason: string; feed?: string } {
  return { reason, ...(feed !== null && { feed }) };
}
