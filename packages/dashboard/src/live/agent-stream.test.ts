import type { AgentView } from 'svc-monitor/src/features/agents/api.ts';
import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import { expect, test } from 'vitest';
import { noAgent, withView } from './agent-stream.ts';

const item = (id: string, rev: number, text = id): ConversationItem => ({
  id,
  rev,
  kind: 'message',
  text,
  cut: false,
});
const view = (items: ConversationItem[], more: Partial<AgentView> = {}): AgentView => ({
  ticket: 'A-1',
  orchestrator: 'run-1',
  attempt: null,
  agent: null,
  cost: null,
  waiting: [],
  instanceId: 'one',
  rev: 0,
  dropped: 0,
  journal: null,
  items,
  ...more,
});
const texts = (views: AgentView[]): string[] =>
  views.reduce(withView, noAgent).items.map((one) => ('text' in one ? one.text : ''));

test('items change by their id, in the order in which they first appeared', () => {
  const first = view([item('a', 1), item('b', 2)]);
  expect(texts([first, view([item('c', 3), item('a', 4, 'A')])])).toEqual(['A', 'b', 'c']);
});

test('an older revision changes nothing', () => {
  expect(texts([view([item('a', 5, 'new')]), view([item('a', 4, 'old')])])).toEqual(['new']);
});

test('another instance starts over, with what that one left out', () => {
  const views = [view([item('a', 1)]), view([item('b', 1)], { instanceId: 'two', dropped: 7 })];
  expect(texts(views)).toEqual(['b']);
  expect(views.reduce(withView, noAgent).earlier).toBe(7);
});

test('the oldest are dropped, and counted', () => {
  const many = view(Array.from({ length: 20_005 }, (_, number) => item(`i${number}`, number)));
  const { items, earlier } = withView(noAgent, many);
  expect([items.length, earlier, items[0]?.id]).toEqual([20_000, 5, 'i5']);
});
