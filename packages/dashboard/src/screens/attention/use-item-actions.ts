// A person's action on an item: shown at once as it will be, then as the log has it. If the daemon refuses it, the item
// goes back and the error is shown.
import { useCallback, useEffect, useRef, useState } from 'react';
import type { AttentionItem } from 'svc-monitor/src/features/attention/entity.ts';
import { client } from '../../api/client.ts';
import { actor } from './your-name.ts';

/** How long to wait for the event. After that the board is correct as it is. */
const PENDING_TIMEOUT_MS = 5_000;

export type ItemAction =
  | { kind: 'ack' }
  | { kind: 'resolve' }
  | { kind: 'snooze'; for: string; until: number }
  | { kind: 'hand-over'; to: string; note: string };

/** The item as it will be; null if it will be closed. */
export function predicted<Item extends AttentionItem>(
  item: Item,
  action: ItemAction,
  now: number,
): Item | null {
  const at = new Date(now).toISOString();
  const by = 'you';
  switch (action.kind) {
    case 'ack':
      return { ...item, acknowledged: { by, at } };
    case 'snooze':
      return { ...item, snoozedUntil: new Date(action.until).toISOString() };
    case 'hand-over':
      return {
        ...item,
        handedOver: { to: action.to, by, at, note: action.note === '' ? null : action.note },
      };
    case 'resolve':
      return null;
  }
}

/** For an item on another machine: that machine does it, if its owner allows it. */
async function askMachine(
  machine: string,
  id: string,
  { to, note }: Extract<ItemAction, { kind: 'hand-over' }>,
  by: { by?: string },
): Promise<void> {
  const item = id.slice(`${machine}/attention/`.length);
  const asked = { verb: 'hand-over' as const, item, to, ...(note !== '' && { note }) };
  const { command } = await client.post('/api/team/commands', { body: { machine, command: asked, ...by } });
  if (command.state === 'done' || command.state === 'open') return;
  throw new Error(
    [`${command.machine}: ${command.why ?? command.state}`, command.remedy]
      .filter((text) => text !== null)
      .join('. '),
  );
}

export function sendAction(
  id: string,
  action: ItemAction,
  by: { by?: string },
  machine?: string,
): Promise<unknown> {
  if (machine !== undefined && action.kind === 'hand-over') return askMachine(machine, id, action, by);
  if (action.kind === 'snooze')
    return client.post('/api/attention/snooze', { body: { id, for: action.for, ...by } });
  if (action.kind === 'hand-over') {
    const note = action.note === '' ? {} : { note: action.note };
    return client.post('/api/attention/hand-over', { body: { id, to: action.to, ...note, ...by } });
  }
  return client.post(`/api/attention/${action.kind}`, { body: { id, ...by } });
}

/** The last action of this page, which can be undone. */
export type DoneAction = { item: AttentionItem; action: ItemAction['kind'] };

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

type Pending = { action: ItemAction; base: AttentionItem; at: number };

export function useItemActions(items: ReadonlyMap<string, AttentionItem>) {
  const [pending, setPending] = useState<ReadonlyMap<string, Pending>>(new Map());
  const [failure, setFailure] = useState<{ item: AttentionItem; error: Error } | null>(null);
  const [done, setDone] = useState<DoneAction | null>(null);
  const latest = useRef(items);
  latest.current = items;

  const forget = useCallback((id: string, only: Pending) => {
    setPending((before) => {
      if (before.get(id) !== only) return before;
      const after = new Map(before);
      after.delete(id);
      return after;
    });
  }, []);

  // The log has it: from here on the board is right.
  useEffect(() => {
    for (const [id, one] of pending) if (items.get(id) !== one.base) forget(id, one);
  }, [items, pending, forget]);

  const send = useCallback(
    async (item: AttentionItem & { machine?: string }, action: ItemAction): Promise<void> => {
      const one: Pending = { action, base: latest.current.get(item.id) ?? item, at: Date.now() };
      setFailure(null);
      setDone(null);
      setPending((before) => new Map(before).set(item.id, one));
      try {
        await sendAction(item.id, action, actor(), item.machine);
        // Another machine does not undo.
        if (item.machine === undefined) setDone({ item, action: action.kind });
        setTimeout(() => forget(item.id, one), PENDING_TIMEOUT_MS);
      } catch (error) {
        forget(item.id, one);
        setFailure({ item, error: errorOf(error) });
      }
    },
    [forget],
  );
  const undo = useCallback(async (item: AttentionItem): Promise<void> => {
    setFailure(null);
    setDone(null);
    try {
      await client.post('/api/attention/undo', { body: { id: item.id, ...actor() } });
    } catch (error) {
      setFailure({ item, error: errorOf(error) });
    }
  }, []);
  const dismissDone = useCallback(() => setDone(null), []);
  return {
    pending,
    send,
    done,
    undo,
    dismissDone,
    failure,
    dismissFailure: useCallback(() => setFailure(null), []),
  };
}
