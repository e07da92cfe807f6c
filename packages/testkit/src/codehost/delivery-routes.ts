// `hooks/:id/deliveries`: what was sent in the last three days, newest first; one of them in full; once more.
import { type Answer, isoTime, notFound, Refusal } from './answer.ts';
import type { Deliverer } from './deliver.ts';
import { hookOf } from './hook-routes.ts';
import { cursorPage } from './pages.ts';
import type { DeliveryRow, RepoRow } from './records.ts';
import type { Call, Route } from './route.ts';

const KEPT_MS = 3 * 24 * 3_600_000;

export function deliveryRoutes({ deliverer, now }: { deliverer: Deliverer; now: () => number }): Route[] {
  const kept = (repo: RepoRow, hookId: number): DeliveryRow[] =>
    repo.deliveries
      .filter((row) => row.hookId === hookId && now() - row.deliveredAt <= KEPT_MS)
      .toReversed()
      .toSorted((one, other) => other.deliveredAt - one.deliveredAt);

  const deliveryOf = ({ repo, parts }: Call): DeliveryRow => {
    const hook = hookOf(repo, parts[0]);
    const found = kept(repo, hook.id).find(({ id }) => String(id) === parts[1]);
    if (found === undefined) throw notFound();
    return found;
  };

  const list = ({ repo, parts, url }: Call): Answer => {
    const rows = kept(repo, hookOf(repo, parts[0]).id);
    const page = cursorPage(
      url,
      rows,
      ({ id }) => String(id),
      (row) => summary(repo, row),
    );
    if (page === undefined) throw new Refusal(422, 'Invalid cursor');
    return page;
  };

  const one = (call: Call): Answer => {
    const row = deliveryOf(call);
    const body = {
      ...summary(call.repo, row),
      url: row.url,
      request: { headers: row.requestHeaders, payload: row.payload },
      response: { headers: row.responseHeaders, payload: row.responseBody },
    };
    return { status: 200, body };
  };

  const again = async (call: Call): Promise<Answer> => {
    await deliverer.redeliver(call.repo, hookOf(call.repo, call.parts[0]), deliveryOf(call));
    return { status: 202, body: {} };
  };

  return [
    { method: 'GET', path: /^hooks\/(\d+)\/deliveries$/, needs: 'hooks', answer: list },
    { method: 'GET', path: /^hooks\/(\d+)\/deliveries\/(\d+)$/, needs: 'hooks', answer: one },
    { method: 'POST', path: /^hooks\/(\d+)\/deliveries\/(\d+)\/attempts$/, needs: 'hooks', answer: again },
  ];
}

function summary(repo: RepoRow, row: DeliveryRow): object {
  return {
    id: row.id,
    guid: row.guid,
    delivered_at: isoTime(row.deliveredAt),
    redelivery: row.redelivery,
    duration: Math.round(row.durationMs) / 1000,
    status: row.status,
    status_code: row.statusCode,
    event: row.event,
    action: row.action,
    installation_id: null,
    repository_id: repo.id,
    throttled_at: null,
  };
}
