// The headers that a delivery comes with, signature apart, in lower case as Node hands them over.
import type { Delivery } from './example.ts';

export function codehostHeaders(delivery: Delivery): Record<string, string> {
  return { 'x-codehost-event': delivery.type, 'x-codehost-delivery': delivery.deliveryId };
}

export function trackerHeaders(delivery: Delivery): Record<string, string> {
  return { 'tracker-event': delivery.type, 'tracker-delivery': delivery.deliveryId };
}
