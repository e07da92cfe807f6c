// Who works in another tab sees that something needs them: in the title of the tab, and, if they have switched it on in this
// browser, as a notification with the question.

import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { reasonWords } from 'svc-monitor/src/features/attention/reason-words.ts';
import { useBoard, useBoardTime, useItems, useLiveBoard, useNow, useShownItems } from '../live/live.tsx';
import { shownText } from '../parts/agent-text.tsx';
import { inbox, needsYouOf } from '../screens/attention/inbox.ts';
import { type Item, nameOf } from '../screens/attention/item-row.tsx';
import { pageTitle } from './page-title.ts';

/** How much needs a person on the board that is shown, live or past: the number of its column. */
export function useNeedsYou(): number {
  const { board } = useBoard();
  const items = useShownItems(board);
  const time = useBoardTime();
  return board.seq === null ? 0 : needsYouOf(board, items.values(), time).total;
}

/** What waits for this person, the most urgent first. */
export function useWaiting(): readonly Item[] {
  const items = useItems(useLiveBoard());
  return inbox(items.values(), useNow()).waiting;
}

const LONGEST = 300;

export function notificationOf(item: Item): { title: string; body: string } {
  const message = item.message.length > LONGEST ? `${item.message.slice(0, LONGEST)}…` : item.message;
  return { title: shownText(`${nameOf(item)}: ${reasonWords(item.reason)}`), body: shownText(message) };
}

/** Those that were raised after the newest of which the person knows. */
export function newItems(waiting: readonly Item[], seenSeq: number): readonly Item[] {
  return waiting.filter(({ openedSeq, machine }) => machine === undefined && openedSeq > seenSeq);
}

// The switch is kept in the browser: each one asks its own person.

const KEY = 'svc.notify';
const listeners = new Set<() => void>();

function isSupported(): boolean {
  return 'Notification' in globalThis;
}

function isOn(): boolean {
  return isSupported() && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on';
}

function onSwitch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function switchTo(on: boolean): Promise<'on' | 'off' | 'refused'> {
  if (on && (await Notification.requestPermission()) !== 'granted') return 'refused';
  if (on) localStorage.setItem(KEY, 'on');
  else localStorage.removeItem(KEY);
  for (const listener of listeners) listener();
  return on ? 'on' : 'off';
}

export function NotifySwitch() {
  const on = useSyncExternalStore(onSwitch, isOn);
  const [isRefused, setRefused] = useState(false);
  if (!isSupported()) return null;
  return (
    <label className="flex items-center gap-2 text-muted text-small max-wide:min-h-11">
      <input
        type="checkbox"
        role="switch"
        checked={on}
        onChange={({ target }) =>
          void switchTo(target.checked).then((result) => setRefused(result === 'refused'))
        }
      />
      Notify me in this browser
      {isRefused && (
        <span role="status" className="text-broken">
          The browser does not allow it: change it in its settings for this page.
        </span>
      )}
    </label>
  );
}

/** Nothing is drawn: it keeps the title of the tab, and sends the notifications. */
export function NeedsYou() {
  const waiting = useWaiting();
  const { pathname } = useLocation();
  const board = useLiveBoard();
  const { seq } = board;
  const navigate = useNavigate();
  const title = pageTitle(pathname, board, useNeedsYou(), waiting[0]);
  useEffect(() => {
    document.title = title;
  }, [title]);
  /** What was open when the page was opened is on it already. */
  const seen = useRef<number | null>(null);
  useEffect(() => {
    if (seq === null) return;
    const news = newItems(waiting, seen.current ?? seq);
    seen.current = seq;
    if (!isOn() || document.hasFocus()) return;
    for (const item of news) {
      const { title: heading, body } = notificationOf(item);
      try {
        const shown = new Notification(heading, { body, tag: item.id });
        shown.addEventListener('click', () => {
          window.focus();
          void navigate({ to: '/attention', search: { id: item.id } });
          shown.close();
        });
      } catch {
        // Browsers of phones show notifications only from a service worker. The title has the count.
      }
    }
  }, [waiting, seq, navigate]);
  return null;
}
