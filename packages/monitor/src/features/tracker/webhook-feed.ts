// Where a delivery of the tracker has its signature and its id, and how its payload becomes an event.
import { headerValue } from '@svc/contract/vendor-names';
import { parseTrackerSignature } from '../feeds/delivery.ts';
import type { Feed } from '../feeds/io/feed.ts';
import { mapTracker } from './map-tracker.ts';

export const trackerFeed: Feed = {
  name: 'tracker',
  path: '/api/webhook/tracker',
  signatureHeader: 'Tracker-Signature',
  deliveryHeader: 'Tracker-Delivery',
  signatureIn: (headers) => parseTrackerSignature(headerValue(headers, 'Tracker-Signature')),
  map(_headers, payload, meta) {
    if (typeIn(payload) === undefined) return { ok: false, problem: 'the payload has no type' };
    return mapTracker(payload, meta);
  },
  sentAt(payload) {
    const time = fieldOf(payload, 'webhookTimestamp');
    return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
  },
};

function typeIn(payload: unknown): string | undefined {
  const type = fieldOf(payload, 'type');
  return typeof type === 'string' && type !== '' ? type : undefined;
}

function fieldOf(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null ? Reflect.get(payload, name) : undefined;
}
