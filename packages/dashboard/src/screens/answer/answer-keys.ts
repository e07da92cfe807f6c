// Whose the keys `a` and `x` are when several answers are on the screen: those of the page, of the selected item or of the
// card with the focus claim them. What nobody claims is for the notice that is on every screen.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useKeys } from '../../parts/use-keys.ts';

/** Which of its keys count now: those of the selected item, or of the card with the focus. */
export type HasKeys = () => boolean;

/** A key, or a click in the notice, that was meant for what was there before must not answer what is there now. */
const SEEN_AFTER_MS = 400;

type Claim = { id: string; hasKeys: HasKeys };
const claims = new Set<Claim>();
const listeners = new Set<() => void>();
/** Which answers have the keys, and since when. */
let claimed = '';
let changedAt = 0;
/** The mouse is pressed, which moves the focus. What that changes waits: a button that moves away would not be clicked. */
let isPressed = false;

const claimedIds = (): string => [...claims].flatMap(({ id, hasKeys }) => (hasKeys() ? [id] : [])).join('\n');
const shownIds = (): string => (isPressed ? claimed : claimedIds());

function look(): void {
  const ids = shownIds();
  if (ids === claimed) return;
  claimed = ids;
  changedAt = performance.now();
  for (const listener of listeners) listener();
}

function press({ button }: PointerEvent): void {
  look();
  isPressed = button === 0;
}

function release(): void {
  // The click comes right after this event.
  setTimeout(() => {
    isPressed = false;
    look();
  });
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  for (const name of ['focusin', 'focusout']) window.addEventListener(name, look);
  window.addEventListener('pointerdown', press, true);
  for (const name of ['pointerup', 'pointercancel', 'contextmenu'])
    window.addEventListener(name, release, true);
  return () => listeners.delete(listener);
}

/** The ids of the answers that have the keys now. */
export function useClaimed(): readonly string[] {
  const ids = useSyncExternalStore(onChange, shownIds);
  return ids === '' ? [] : ids.split('\n');
}

/** `has`: its keys count now. `isSeen`: it was on the screen for a moment. */
type AnswerKeys = { has: boolean; isSeen: () => boolean };

/**
 * Keys count once each, and only when the answer has been on the screen for a moment. `claims` is false for the notice: it
 * has the keys while nothing else has them.
 */
export function useAnswerKeys(
  id: string,
  hasKeys: HasKeys | null,
  acts: { a?: () => void; x?: () => void },
  claimsKeys = true,
): AnswerKeys {
  const latest = useRef(hasKeys);
  latest.current = hasKeys;
  const shownAt = useRef(performance.now());
  const isClaim = claimsKeys && hasKeys !== null;
  useEffect(() => {
    if (!isClaim) return undefined;
    const claim: Claim = { id, hasKeys: () => latest.current?.() === true };
    claims.add(claim);
    look();
    return () => {
      claims.delete(claim);
      look();
    };
  }, [id, isClaim]);
  const shown = useClaimed();
  const has = isClaim ? shown.includes(id) : hasKeys !== null && shown.length === 0 && hasKeys();
  const owns = (): boolean => hasKeys !== null && hasKeys() && (isClaim || claimedIds() === '');
  const isSeen = (): boolean => performance.now() - shownAt.current >= SEEN_AFTER_MS;
  const on = (act: (() => void) | undefined) => (event: KeyboardEvent) => {
    const isSettled = isClaim || performance.now() - changedAt >= SEEN_AFTER_MS;
    if (act === undefined || event.repeat || !owns() || !isSettled || !isSeen()) return;
    event.preventDefault();
    act();
  };
  useKeys({ a: on(acts.a), x: on(acts.x) });
  return { has, isSeen };
}
