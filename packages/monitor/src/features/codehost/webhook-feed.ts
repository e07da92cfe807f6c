// Where a delivery of the code host has its signature and its id, and how its payload becomes an event.
import { headerValue } from '@svc/contract/vendor-names';
import { parseCodehostSignature } from '../feeds/delivery.ts';
import type { Feed } from '../feeds/io/feed.ts';
import { codehostEventType, mapCodehost } from './map-codehost.ts';

export const codehostFeed: Feed = {
  name: 'codehost',
  path: '/api/webhook',
  signatureHeader: 'X-Hub-Signature-256',
  deliveryHeader: 'X-Codehost-Delivery',
  signatureIn: (headers) => parseCodehostSignature(headerValue(headers, 'X-Hub-Signature-256')),
  map(headers, payload, meta) {
    const type = codehostEventType(headerValue(headers, 'X-Codehost-Event'), payload);
    if (type === undefined)
      return { ok: false, problem: 'the event type is in no header and cannot be inferred' };
    return mapCodehost(type, payload, meta);
  },
  sentAt: () => undefined,
};
