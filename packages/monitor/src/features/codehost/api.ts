// The two receivers, called by the code host, by the tracker, or by the tunnel on their behalf.
import { z } from 'zod';
import { apiRoute } from '../../kernel/http/api-route.ts';

const payload = z.looseObject({}).describe("The sender's own payload, at most 25 MiB");
const answer = z
  .union([
    z.object({ ok: z.literal(true), event: z.string(), id: z.string() }),
    z.object({ ok: z.literal(true), duplicate: z.literal(true), id: z.string() }),
    z.object({ ok: z.literal(true), selfTest: z.literal(true) }),
  ])
  .meta({ id: 'DeliveryAnswer' });
const received = {
  method: 'POST',
  tag: 'webhooks',
  body: payload,
  answer,
  failures: [
    'no-secret',
    'bad-signature',
    'bad-payload',
    'no-delivery-id',
    'too-large',
    'busy',
    'log-not-writable',
  ],
} as const;

export const webhookRoutes = {
  receiveCodehost: apiRoute({
    ...received,
    path: '/api/webhook',
    summary: 'Receive a delivery of the code host',
    description: "The answer is 2xx once the event is durable. The vendor's own header names work too.",
    bodyTypes: ['application/json', 'application/x-www-form-urlencoded'],
    headers: z.strictObject({
      'X-Hub-Signature-256': z.string().describe('sha256=<HMAC-SHA-256 of the raw body>'),
      'X-Codehost-Delivery': z.string(),
      'X-Codehost-Event': z.string().optional().describe('derived from the payload when it is missing'),
    }),
  }),
  receiveTracker: apiRoute({
    ...received,
    path: '/api/webhook/tracker',
    summary: 'Receive a delivery of the issue tracker',
    description:
      "The answer is 2xx once the event is durable. The vendor's own path and header names work too.",
    headers: z.strictObject({
      'Tracker-Signature': z.string().describe('HMAC-SHA-256 of the raw body'),
      'Tracker-Delivery': z.string(),
      'Tracker-Event': z.string().optional().describe('derived from the payload when it is missing'),
    }),
  }),
};
