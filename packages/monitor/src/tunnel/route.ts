// Two feeds on one channel share one connection: each delivery goes to the receiver whose signature it has.
import { headerValue } from '@svc/core';
import type { Receive } from './delivery.ts';

/** `routeByFeed({ codehost: codehost.receive, tracker: tracker.receive })` */
export function routeByFeed({ codehost, tracker }: { codehost: Receive; tracker: Receive }): Receive {
  return (delivery) =>
    headerValue(delivery.headers, 'Tracker-Signature') === undefined ? codehost(delivery) : tracker(delivery);
}
