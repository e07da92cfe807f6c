// What the keys of the keyboard mean on every screen. Pure, so that it can be tried without a page.
import { places } from './places.ts';

export type KeyPress = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean };
export type KeyMeaning =
  | { kind: 'palette' }
  | { kind: 'key-map' }
  /** The first of two keys. */
  | { kind: 'go' }
  | { kind: 'to'; to: string };

/** How long the second key may take. */
export const GO_MS = 1_500;

/** `isGoing`: `g` was pressed just before. `isTyping`: a field has the focus, so that letters are letters. */
export function meaningOfKey(
  { key, ctrlKey, metaKey, altKey }: KeyPress,
  { isGoing, isTyping }: { isGoing: boolean; isTyping: boolean },
): KeyMeaning | null {
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return { kind: 'palette' };
  if (isTyping || ctrlKey || metaKey || altKey) return null;
  if (isGoing) {
    const place = places.find((one) => one.key === key);
    return place === undefined ? null : { kind: 'to', to: place.to };
  }
  if (key === '?') return { kind: 'key-map' };
  return key === 'g' ? { kind: 'go' } : null;
}
