// What the agent of a ticket does, as it happens: its state and its conversation, which is a list of items that change by
// their id. A message of another instance starts the list over.
import { useEffect, useState } from 'react';
import type { AgentView } from 'svc-monitor/src/features/agents/api.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import { client } from '../api/client.ts';
import { keepFollowing } from './line-stream.ts';

/** The page drops the oldest beyond this. */
const MOST_ITEMS = 20_000;

export type AgentState = {
  /** Null until the first message. */
  view: Omit<AgentView, 'items'> | null;
  /** In the order in which they first appeared. */
  items: readonly ConversationItem[];
  /** How many older items the page does not have. */
  earlier: number;
  failure: Error | null;
  /** Why the connection is lost; null while it is open. */
  lost: string | null;
};

export const noAgent: AgentState = { view: null, items: [], earlier: 0, failure: null, lost: null };

export function withView(before: AgentState, { items: changed, ...view }: AgentView): AgentState {
  const startsOver = before.view?.instanceId !== view.instanceId;
  const current = { view, failure: null, lost: null };
  if (!startsOver && changed.length === 0) return { ...before, ...current };
  const items = startsOver ? [] : [...before.items];
  const places = new Map(items.map(({ id }, index) => [id, index]));
  for (const item of changed) {
    const at = places.get(item.id);
    if (at === undefined) places.set(item.id, items.push(item) - 1);
    else if (item.rev >= (items[at]?.rev ?? 0)) items[at] = item;
  }
  const surplus = Math.max(0, items.length - MOST_ITEMS);
  const earlier = (startsOver ? view.dropped : before.earlier) + surplus;
  return { ...current, items: surplus === 0 ? items : items.slice(surplus), earlier };
}

export function useAgent(ticket: string, run: string): AgentState {
  const [state, setState] = useState(noAgent);
  useEffect(() => {
    const closed = new AbortController();
    const { signal } = closed;
    setState(noAgent);
    async function follow(): Promise<void> {
      const views = client.followAgent({
        ticket,
        orchestrator: run,
        signal,
        onLost: (lost) => setState((before) => ({ ...before, lost })),
      });
      for await (const batch of views) setState((before) => batch.reduce(withView, before));
    }
    void keepFollowing(follow, signal, (failure) => setState((before) => ({ ...before, failure })));
    return () => closed.abort();
  }, [ticket, run]);
  return state;
}
