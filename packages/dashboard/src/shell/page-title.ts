// The title of the browser's tab: how much needs a person, and what the screen is about, so that a tab can be found among many.
import type { LiveBoard } from '../live/board-store.ts';
import { shownText } from '../parts/agent-text.tsx';
import { type Item, nameOf } from '../screens/attention/item-row.tsx';
import { screenList } from './link-to.ts';

const LONGEST = 60;

/** `(3) TID-104 Let a skipper extend a stay · svc`; on the board, the ticket of the most urgent item. */
export function pageTitle(
  pathname: string,
  board: Pick<LiveBoard, 'tickets' | 'runs'>,
  needsYou: number,
  mostUrgent: Item | undefined,
): string {
  const count = needsYou > 0 ? `(${needsYou}) ` : '';
  const about = pathname === '/' && mostUrgent !== undefined ? nameOf(mostUrgent) : aboutOf(pathname, board);
  return `${count}${about === null || about === 'svc' ? '' : `${shownText(about).slice(0, LONGEST)} · `}svc`;
}

function aboutOf(pathname: string, { tickets, runs }: Pick<LiveBoard, 'tickets' | 'runs'>): string | null {
  const [, first = '', second = ''] = pathname.split('/');
  const screen = screenList.find(({ to }) => to === `/${first}`);
  if (second === '') return screen?.name ?? null;
  const name = decoded(second);
  if (first === 'tickets') {
    const ticket = [...tickets.values()].find((one) => one.ticket.toUpperCase() === name.toUpperCase());
    return `${name} ${ticket?.title ?? ''}`.trim();
  }
  return runs.get(name)?.name ?? name;
}

/** A part of a path as text; one that nobody could have written is shown as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
