// The current board or that of any past time, its changes, what needs a person, and how a person answers.

import {
  type AttentionItem,
  api,
  attentionView,
  type Board,
  boardView,
  createChangeTracker,
  type EventContent,
  handedTo,
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
  now: () => number;
}): Routes {
  const { state, boardAt, instanceId, now } = options;
  const tracker = createChangeTracker();
  return (app) => {
    route(app, api.getBoard, async ({ query }, reply) => {
      const shown = { all: query.all === '1', settledMs: query.settled ?? WEEK_MS, team: query.team === '1' };
      const moment = momentIn('at', query.at, now());
      if (moment === undefined) return { instanceId, ...boardView(boardOf(state), shown) };
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      return boardView(await boardAt(moment, gone.signal), shown);
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
    async handOver({ id, by, to, note }: { id: string; by: string; to: string; note?: string | undefined }) {
      const item = itemOf(id);
      const detail = { ...namesOf(item), by, to, ...(note !== undefined && { note }) };
      return record(item, { event: 'comms.attention_handed_over', detail });
    },
    async resolve({ id, by }: { id: string; by: string }) {
      const item = itemOf(id);
      return record(item, { event: 'comms.attention_resolved', detail: { ...namesOf(item), by } });
    },
  };
}

/** An id contains slashes, so it is a field of the body. */
export function attentionRoutes(options: {
  state: StateAccess;
  append: Append;
  /** Who this machine belongs to in its team; undefined without a team. */
  person: () => string | undefined;
  now: () => number;
}): Routes {
  const { state, person, now } = options;
  const actions = attentionActions(options);
  return (app) => {
    route(app, api.getAttention, () => {
      const board = boardOf(state);
      const own = person();
      const handed = own === undefined ? [] : handedTo(board, own);
      const others = handed.map(({ machine: id, value }) => ({
        ...value,
        machine: board.members.get(id)?.machine ?? id,
      }));
      return attentionView(board, now(), others);
    });
    route(app, api.acknowledgeAttention, ({ body }) => actions.acknowledge(body));
    route(app, api.snoozeAttention, ({ body: { id, by, for: milliseconds } }) =>
      actions.snooze({ id, by, until: new Date(now() + milliseconds).toISOString() }),
    );
    route(app, api.handOverAttention, ({ body }) => actions.handOver(body));
    route(app, api.resolveAttention, ({ body }) => actions.resolve(body));
  };
}

type AttentionContent = Extract<EventContent, { event: `comms.attention_${string}` }>;

function namesOf({ reason, feed }: AttentionItem): { reason: string; feed?: string } {
  return { reason, ...(feed !== null && { feed }) };
}
