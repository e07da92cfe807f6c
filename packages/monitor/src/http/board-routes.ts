// The current board or that of any past time, its changes, what needs a person, and how a person answers.

import {
  type AttentionItem,
  api,
  attentionView,
  type Board,
  type BoardView,
  boardView,
  causeStands,
  createChangeTracker,
  type EventContent,
  handedTo,
  needsYouCount,
  type Since,
  WEEK_MS,
} from '@svc/core';
import { within } from '@svc/lib/timeout';
import { Failure } from '../errors.ts';
import { momentIn, type Routes, route } from './route.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from './state-access.ts';

/** How long a request waits for an event that the board does not have yet. */
const TIMEOUT_MS = 1_000;

export function boardRoutes(options: {
  state: StateAccess;
  /** The board after an event, or after the last event before a time. */
  boardAt: (moment: Since, signal: AbortSignal) => Promise<Board>;
  /** Identifies this process: positions and views of another instance are not valid here. */
  instanceId: string;
  person: Person;
  now: () => number;
}): Routes {
  const { state, boardAt, instanceId, person, now } = options;
  const tracker = createChangeTracker();
  /** `needsYou` also has what other machines of the team handed over to this person. */
  const counted = (board: Board, view: BoardView, moment: number) => {
    const handed = handedToPerson(board, person).map(({ id, machine, value }) => ({
      ...value,
      key: id,
      machine,
      isForMe: true,
    }));
    const attention = [...view.attention, ...handed];
    return { ...view, needsYou: needsYouCount({ ...view, attention, now: moment }).total };
  };
  return (app) => {
    route(app, api.getBoard, async ({ query }, reply) => {
      const shown = { all: query.all === '1', settledMs: query.settled ?? WEEK_MS, team: query.team === '1' };
      const moment = momentIn('at', query.at, now());
      if (moment === undefined) {
        const board = boardOf(state);
        return { instanceId, ...counted(board, boardView(board, shown), now()) };
      }
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const past = await boardAt(moment, gone.signal);
      return counted(past, boardView(past, shown), past.at === null ? now() : Date.parse(past.at));
    });
    route(app, api.getBoardChanges, async ({ query }) => {
      const isOurs = query.instanceId === undefined || query.instanceId === instanceId;
      boardOf(state);
      await reached(state, query.atLeast);
      const after = isOurs ? query.after : undefined;
      return { instanceId, ...tracker.changes(boardOf(state), after, query.settled ?? WEEK_MS) };
    });
  };
}

/** Who this machine belongs to in its team; undefined without a team. */
type Person = () => string | undefined;

function handedToPerson(board: Board, person: Person) {
  const own = person();
  return own === undefined ? [] : handedTo(board, own);
}

/** Bounded, because the event may belong to another log. */
async function reached(state: StateAccess, seq: number | undefined): Promise<void> {
  if (seq === undefined || seq <= state.board().seq) return;
  // A stopped follower rejects; the response is then what the board has.
  await within(
    state.reached(seq).catch(() => undefined),
    TIMEOUT_MS,
    () => undefined,
  );
}

/** What a person does with an item. */
export function attentionActions(options: { state: StateAccess; append: Append }) {
  const { state } = options;

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

/** An id contains slashes, so it is a field of the body. */
export function attentionRoutes(options: {
  state: StateAccess;
  append: Append;
  person: Person;
  now: () => number;
}): Routes {
  const { state, person, now } = options;
  const actions = attentionActions(options);
  return (app) => {
    route(app, api.getAttention, () => {
      const board = boardOf(state);
      const others = handedToPerson(board, person).map(({ machine: id, value }) => ({
        ...value,
        machine: board.members.get(id)?.machine ?? id,
        person: board.members.get(id)?.person ?? 'unknown',
      }));
      return attentionView(board, now(), others);
    });
    route(app, api.acknowledgeAttention, ({ body }) => actions.acknowledge(body));
    route(app, api.snoozeAttention, ({ body: { id, by, for: milliseconds } }) =>
      actions.snooze({ id, by, until: new Date(now() + milliseconds).toISOString() }),
    );
    route(app, api.handOverAttention, ({ body }) => actions.handOver(body));
    route(app, api.resolveAttention, ({ body }) => actions.resolve(body));
    route(app, api.undoAttention, ({ body }) => actions.undo(body));
  };
}

type AttentionContent = Extract<EventContent, { event: `comms.attention_${string}` }>;

function namesOf({ reason, feed }: AttentionItem): { reason: string; feed?: string } {
  return { reason, ...(feed !== null && { feed }) };
}
