// The current board or that of any past time, its changes, what needs a person, and how a person answers.

import {
  type AttentionItem,
  api,
  attentionView,
  type Board,
  boardView,
  createChangeTracker,
  type EventContent,
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
      const shown = { all: query.all === '1', settledMs: query.settled ?? WEEK_MS };
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

/** An id contains slashes, so it is a field of the body. */
export function attentionRoutes(options: { state: StateAccess; append: Append; now: () => number }): Routes {
  const { state, now } = options;

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

  return (app) => {
    route(app, api.getAttention, () => attentionView(boardOf(state), now()));
    route(app, api.acknowledgeAttention, async ({ body: { id, by } }) => {
      const item = itemOf(id);
      if (item.acknowledged !== null) return { ok: true as const, item };
      return record(item, { event: 'comms.attention_acknowledged', detail: { ...namesOf(item), by } });
    });
    route(app, api.snoozeAttention, async ({ body: { id, by, for: milliseconds } }) => {
      const item = itemOf(id);
      const until = new Date(now() + milliseconds).toISOString();
      return record(item, { event: 'comms.attention_snoozed', detail: { ...namesOf(item), by, until } });
    });
    route(app, api.handOverAttention, async ({ body: { id, by, to, note } }) => {
      const item = itemOf(id);
      const detail = { ...namesOf(item), by, to, ...(note !== undefined && { note }) };
      return record(item, { event: 'comms.attention_handed_over', detail });
    });
    route(app, api.resolveAttention, async ({ body: { id, by } }) => {
      const item = itemOf(id);
      return record(item, { event: 'comms.attention_resolved', detail: { ...namesOf(item), by } });
    });
  };
}

type AttentionContent = Extract<EventContent, { event: `comms.attention_${string}` }>;

function namesOf({ reason, feed }: AttentionItem): { reason: string; feed?: string } {
  return { reason, ...(feed !== null && { feed }) };
}
