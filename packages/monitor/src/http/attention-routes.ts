// GET /api/attention: what needs a person. POST /api/attention/ack|snooze|hand-over|resolve: a person's word on one
// item.
// An id holds slashes, so that it stands in the body.
import {
  type ApiAnswer,
  type ApiFields,
  type AttentionItem,
  api,
  attentionView,
  durationMs,
  type EventDraft,
} from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { byOf, fieldsOf, neededText, textOf } from './request-fields.ts';
import { type Append, boardOf, type StateAccess, say } from './state-access.ts';

const LONGEST_SNOOZE_MS = 30 * 86_400_000;

type AttentionAnswer = ApiAnswer<typeof api.acknowledgeAttention>;

export function attentionRoutes(options: {
  state: StateAccess;
  append: Append;
  now: () => number;
}): FastifyPluginCallback {
  const { state, now } = options;

  const itemOf = (id: string): AttentionItem => {
    const item = boardOf(state).attention.get(id);
    if (item !== undefined) return item;
    throw new Failure(
      'unknown-attention',
      `Nothing with the id ${id} is open.`,
      'See what is: svc attention',
    );
  };

  async function tell(
    item: AttentionItem,
    event: 'acknowledged' | 'snoozed' | 'handed_over' | 'resolved',
    detail: Record<string, string>,
  ): Promise<AttentionAnswer> {
    await say(options, draftOf(item, event, detail));
    return { ok: true, item: state.board().attention.get(item.id) ?? null };
  }

  return (app, _options, done) => {
    app.get('/api/attention', (): ApiAnswer<typeof api.getAttention> => attentionView(boardOf(state), now()));
    app.post('/api/attention/ack', async (request): Promise<AttentionAnswer> => {
      const { id, by } = wordOf(request.body, api.acknowledgeAttention.body);
      const item = itemOf(id);
      return item.acknowledged === null ? tell(item, 'acknowledged', { by }) : { ok: true, item };
    });
    app.post('/api/attention/snooze', async (request) => {
      const { id, by, given } = wordOf(request.body, api.snoozeAttention.body);
      const milliseconds = durationMs(neededText('for', given.for, api.snoozeAttention.body.shape.for)) ?? 0;
      if (milliseconds < 1 || milliseconds > LONGEST_SNOOZE_MS)
        throw new Failure('usage', 'for: expected a duration of at most 30d, like 2h.');
      return tell(itemOf(id), 'snoozed', { by, until: new Date(now() + milliseconds).toISOString() });
    });
    app.post('/api/attention/hand-over', async (request) => {
      const { id, by, given } = wordOf(request.body, api.handOverAttention.body);
      const to = neededText('to', given.to, api.handOverAttention.body.shape.to).trim();
      if (to === '') throw new Failure('usage', 'to is needed.');
      const note = textOf('note', given.note, api.handOverAttention.body.shape.note);
      return tell(itemOf(id), 'handed_over', { by, to, ...(note !== undefined && { note }) });
    });
    app.post('/api/attention/resolve', async (request) => {
      const { id, by } = wordOf(request.body, api.resolveAttention.body);
      return tell(itemOf(id), 'resolved', { by });
    });
    done();
  };
}

function wordOf<Described extends typeof api.acknowledgeAttention.body & ApiFields>(
  body: unknown,
  described: Described,
) {
  const given = fieldsOf(body, described);
  return {
    given,
    id: neededText('id', given.id, described.shape.id),
    by: byOf(given.by),
  };
}

function draftOf(
  { orchestrator, ticket, feed, reason }: AttentionItem,
  event: string,
  detail: Record<string, string>,
): EventDraft {
  return {
    event: `comms.attention_${event}`,
    source: 'cli',
    via: 'local',
    scope: { ...(orchestrator !== null && { orchestrator }), ...(ticket !== null && { ticket }) },
    detail: { reason, ...(feed !== null && { feed }), ...detail },
  };
}
