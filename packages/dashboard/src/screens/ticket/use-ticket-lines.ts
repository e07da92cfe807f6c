import type { EventLine } from '@svc/core';
import { useEffect, useRef } from 'react';
import { useLines } from '../../live/live.tsx';
import { isOfTicket } from './is-of-ticket.ts';

/** A burst of lines is one call. */
const EVERY_MS = 400;

/** Calls back soon after lines of the ticket came, however many. */
export function useTicketLines(
  ticket: string,
  run: string | undefined,
  onLines: (lines: EventLine[]) => void,
): void {
  const latest = useRef(onLines);
  latest.current = onLines;
  const waiting = useRef<EventLine[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLines((lines) => {
    const ours = lines.filter((line) => isOfTicket(line, ticket, run));
    if (ours.length === 0) return;
    waiting.current.push(...ours);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const came = waiting.current;
      waiting.current = [];
      latest.current(came);
    }, EVERY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
