// A person's word on an item: shown at once as it will be, and then as the log has it. What the daemon refuses is
// taken back and said.
import type { AttentionItem } from '@svc/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { speaker } from './your-name.ts';

/** A line that does not arrive for so long is not waited for: the board is then right as it is. */
const PATIENCE_MS = 5_000;

export type Word =
  | { kind: 'ack' }
  | { kind: 'resolve' }
  | { kind: 'snooze'; for: string; until: number }
  | { kind: 'hand-over'; to: string; note: string };

/** The item as it will be; null when it will be gone. */
export function foreseen<Item extends AttentionItem>(item: Item, word: Word, now: number): Item | null {
  const at = new Date(now).toISOString();
  const by = 'you';
  switch (word.kind) {
    case 'ack':
      return { ...item, acknowledged: { by, at } };
    case 'snooze':
      return { ...item, snoozedUntil: new Date(word.until).toISOString() };
    case 'hand-over':
      return { ...item, handedOver: { to: word.to, by, at, note: word.note === '' ? null : word.note } };
    case 'resolve':
      return null;
  }
}

export function sendWord(id: string, word: Word, by: { by?: string }): Promise<unknown> {
  if (word.kind === 'snooze')
    return client.post('/api/attention/snooze', { body: { id, for: word.for, ...by } });
  if (word.kind === 'hand-over') {
    const note = word.note === '' ? {} : { note: word.note };
    return client.post('/api/attention/hand-over', { body: { id, to: word.to, ...note, ...by } });
  }
  return client.post(`/api/attention/${word.kind}`, { body: { id, ...by } });
}

type Spoken = { word: Word; base: AttentionItem; at: number };

export function useWords(items: ReadonlyMap<string, AttentionItem>) {
  const [spoken, setSpoken] = useState<ReadonlyMap<string, Spoken>>(new Map());
  const [failure, setFailure] = useState<{ item: AttentionItem; error: Error } | null>(null);
  const latest = useRef(items);
  latest.current = items;

  const forget = useCallback((id: string, only: Spoken) => {
    setSpoken((before) => {
      if (before.get(id) !== only) return before;
      const after = new Map(before);
      after.delete(id);
      return after;
    });
  }, []);

  // The log has it: what the board says counts from here on.
  useEffect(() => {
    for (const [id, one] of spoken) if (items.get(id) !== one.base) forget(id, one);
  }, [items, spoken, forget]);

  const say = useCallback(
    async (item: AttentionItem, word: Word): Promise<void> => {
      const one: Spoken = { word, base: latest.current.get(item.id) ?? item, at: Date.now() };
      setFailure(null);
      setSpoken((before) => new Map(before).set(item.id, one));
      try {
        await sendWord(item.id, word, speaker());
        setTimeout(() => forget(item.id, one), PATIENCE_MS);
      } catch (error) {
        forget(item.id, one);
        setFailure({ item, error: error instanceof Error ? error : new Error(String(error)) });
      }
    },
    [forget],
  );
  return { spoken, say, failure, forgetFailure: useCallback(() => setFailure(null), []) };
}
