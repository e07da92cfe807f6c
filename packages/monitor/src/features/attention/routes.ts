// GET /api/attention, and what a person does with an item.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { type AttentionAccess, attentionActions, attentionOf, type Person } from './service.ts';

/** An id contains slashes, so it is a field of the body. */
export function attentionRoutes(options: AttentionAccess & { person: Person; now: () => number }): Routes {
  const { now } = options;
  const actions = attentionActions(options);
  return (app) => {
    route(app, api.getAttention, () => attentionOf(options));
    route(app, api.acknowledgeAttention, ({ body }) => actions.acknowledge(body));
    route(app, api.snoozeAttention, ({ body: { id, by, for: milliseconds } }) =>
      actions.snooze({ id, by, until: new Date(now() + milliseconds).toISOString() }),
    );
    route(app, api.handOverAttention, ({ body }) => actions.handOver(body));
    route(app, api.resolveAttention, ({ body }) => actions.resolve(body));
    route(app, api.undoAttention, ({ body }) => actions.undo(body));
  };
}
