// Which deliveries of a hook have to be fetched. A delivery that the code host lists as successful may still be
// missing: a relay answers 200 even if no one listens. Only the log shows what arrived.
import { z } from 'zod';

export const REPLAY_WINDOW_MS = 3_600_000;

/** `id` belongs to the attempt, `guid` to the event: a redelivery has a new id and the same guid. */
export const HookDelivery = z.object({
  id: z.union([z.int(), z.string().regex(/^\d{1,20}$/)]).transform(String),
  guid: z.string().min(1),
  delivered_at: z.iso.datetime({ offset: true }),
  redelivery: z.boolean().optional(),
  event: z.string(),
  action: z.string().nullish(),
  status_code: z.number().nullish(),
});
/** The fields that we use of a full delivery: the payload as the code host has it, not the original bytes. */
export const DeliveryPayload = z.object({
  request: z.object({ payload: z.record(z.string(), z.unknown()) }),
});

export type HookDelivery = z.infer<typeof HookDelivery>;

/** The newest attempt for each event, ordered by the first attempts, oldest first. */
export function deliveriesSince(deliveries: readonly HookDelivery[], since: number): HookDelivery[] {
  // The code host lists the newest first, and several may be from the same second.
  const oldestFirst = deliveries.toReversed().toSorted((one, other) => timeOf(one) - timeOf(other));
  const byEvent = new Map(oldestFirst.map((delivery) => [delivery.guid, delivery]));
  return [...byEvent.values()].filter((delivery) => timeOf(delivery) >= since);
}

/** The deliveries that the log does not have. */
export function missingDeliveries(
  sent: readonly HookDelivery[],
  received: ReadonlySet<string>,
): HookDelivery[] {
  return sent.filter(({ guid }) => !received.has(guid));
}

/** Whether a page reaches so far back that no later page can have anything newer. */
export function reachesBefore(page: readonly HookDelivery[], since: number): boolean {
  const last = page.at(-1);
  return last === undefined || timeOf(last) < since;
}

function timeOf({ delivered_at }: HookDelivery): number {
  return Date.parse(delivered_at);
}
