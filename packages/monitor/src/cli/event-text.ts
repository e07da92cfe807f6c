// An event line in words, one line of a terminal: when, what, where, by whom.
import type { EventLine } from '@svc/core';
import { plainText } from './plain-text.ts';

export function eventSummary({ seq, ts, event, scope, actor, detail, repeatOf }: EventLine): string {
  const place = [
    scope.ticket,
    scope.repo === undefined ? undefined : scope.repo + (scope.pr === undefined ? '' : `#${scope.pr}`),
    scope.environment,
    actor?.login,
    typeof detail['title'] === 'string' ? JSON.stringify(detail['title'].slice(0, 60)) : undefined,
    repeatOf === undefined ? undefined : `(repeat of ${repeatOf})`,
  ].filter((part) => part !== undefined);
  return plainText(`${seq} ${ts} ${event} ${place.join(' ')}`.trimEnd());
}
