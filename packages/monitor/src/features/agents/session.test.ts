// Sessions of six real agents, recorded by `npm run agents:suite -- --record` (chaos/agent-suite), folded again. In each, one
// process gets a greeting, an edit, a command that is allowed, one that is rejected, one with a second message meanwhile,
// a long answer that is cancelled and one in which the process is killed. Another process continues the session.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addToConversation, newConversation } from './conversation.ts';
import { type AgentFact, agentFacts } from './facts.ts';
import {
  type AgentEntry,
  type AgentSession,
  type AgentState,
  foldAgent,
  newAgentSession,
} from './session.ts';

const REQUEST = { input: 1_500, output: 87 };
const requests = (count: number) => ({ input: count * REQUEST.input, output: count * REQUEST.output });

/**
 * How the agents differ. Tokens are those of the fake model's answers in the recording; null: the agent does not report
 * them. How many answers a message in mid-turn needs depends on when it arrives.
 */
const agents = {
  claude: { takesMessages: true, how: 'resume', rejected: 'failed', tokens: requests(10), cost: true },
  codex: { takesMessages: true, how: 'resume', rejected: 'failed', tokens: requests(9), cost: false },
  gemini: { takesMessages: false, how: 'load', rejected: 'cut-off', tokens: requests(10), cost: false },
  opencode: { takesMessages: false, how: 'resume', rejected: 'failed', tokens: null, cost: true },
  qwen: { takesMessages: false, how: 'resume', rejected: 'failed', tokens: requests(10), cost: false },
  copilot: { takesMessages: false, how: 'load', rejected: 'failed', tokens: requests(10), cost: false },
} as const;
const FILE = '/work/data/wt/demo/A-1/a.txt';
const names = Object.keys(agents) as (keyof typeof agents)[];

const textOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'testing', `${name}.jsonl`), 'utf8');

function processesOf(name: string): [first: AgentEntry[], second: AgentEntry[]] {
  const entries: AgentEntry[] = textOf(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const end = entries.findIndex(({ from }) => from === 'process') + 1;
  return [entries.slice(0, end), entries.slice(end)];
}

function replay(entries: readonly AgentEntry[]) {
  const states: AgentState[] = ['starting'];
  const facts: AgentFact[] = [];
  const conversation = newConversation();
  const sessions: AgentSession[] = [newAgentSession];
  for (const entry of entries) {
    const before = sessions.at(-1) ?? newAgentSession;
    const after = foldAgent(before, entry);
    sessions.push(after);
    if (after.state !== before.state) states.push(after.state);
    facts.push(...agentFacts(entry, before, after));
    addToConversation(conversation, entry, { before, after });
  }
  const of = <Name extends AgentFact['event']>(event: Name) =>
    facts.filter((fact): fact is Extract<AgentFact, { event: Name }> => fact.event === event);
  return { states, facts, of, items: [...conversation.items.values()], session: sessions.at(-1) };
}

describe.each(names)('%s', (name) => {
  const expected = agents[name];
  const [first, second] = processesOf(name);

  test('its states, in order', () => {
    const turn = ['running', 'idle'] as const;
    const asked = ['running', 'needs-permission', 'running', 'idle'] as const;
    const messages = expected.takesMessages ? [] : turn;
    expect(replay(first).states).toEqual(
      ['starting', 'idle', turn, asked, asked, asked, asked, messages, turn, 'running', 'ended'].flat(),
    );
    expect(replay(second).states).toEqual(['starting', 'idle', ...turn, ...turn, 'ended']);
  });

  test('its tools, each with its end, the edit with its diff', () => {
    const { of, items } = replay(first);
    const started = of('agent.tool.started').map(({ detail }) => detail.tool);
    const ended = of('agent.tool.ended').map(({ detail }) => detail);
    expect(ended.map(({ tool }) => tool)).toEqual(started);
    const edits = ended.filter(({ kind }) => kind === 'edit');
    expect(edits).toMatchObject([{ status: 'completed', paths: [FILE] }]);
    const commands = ended.filter(({ kind }) => kind === 'execute');
    expect(commands.map(({ status }) => status)).toEqual(['completed', expected.rejected, 'completed']);
    const tools = items.filter((item) => item.kind === 'tool');
    expect(tools.map(({ id }) => id)).toEqual(started.map((id) => `tool:${id}`));
    const [diff] = tools.flatMap(({ diffs }) => diffs);
    expect(diff?.path).toBe(FILE);
    expect([diff?.before, diff?.after]).toEqual([
      expect.stringContaining('two'),
      expect.stringContaining('TWO'),
    ]);
  });

  test('its requests, each with its answer', () => {
    const { of, items } = replay(first);
    expect(of('agent.request.opened').map(({ detail }) => detail.request.toolKind)).toEqual([
      'edit',
      'execute',
      'execute',
      'execute',
    ]);
    const answers = ['allow_once', 'allow_once', 'reject_once', 'allow_once'];
    expect(of('agent.request.answered').map(({ detail }) => [detail.answer, detail.by])).toEqual(
      answers.map((answer) => [answer, 'a person']),
    );
    const shown = items.filter((item) => item.kind === 'request');
    expect(shown.map(({ by }) => by)).toEqual(answers.map(() => 'a person'));
  });

  test('one event for each message, each once, and no more than 30 for a turn', () => {
    for (const { facts, of, items } of [replay(first), replay(second)]) {
      const texts = items.filter(({ kind }) => kind === 'message');
      expect(of('agent.message').map(({ detail }) => detail.text)).toEqual(
        texts.map((item) => 'text' in item && item.text),
      );
      expect(new Set(facts.map((fact) => fact.name)).size).toBe(facts.length);
      const ends = facts.flatMap(({ event }, at) => (event === 'agent.turn.ended' ? [at] : []));
      const starts = facts.flatMap(({ event }, at) => (event === 'agent.turn.started' ? [at] : []));
      expect(starts.length).toBe(ends.length);
      for (const [turn, start] of starts.entries())
        expect((ends[turn] ?? Number.POSITIVE_INFINITY) - start + 1).toBeLessThanOrEqual(30);
    }
  });

  test('the chunks of one message are one event, also 5,000', () => {
    const at = first.findIndex(
      (entry) => JSON.stringify(entry).includes('agent_message_chunk') && replay([entry]).session?.message,
    );
    const long = first.flatMap((entry, index) =>
      index === at ? Array.from({ length: 5_000 }, () => entry) : [entry],
    );
    const events = replay(long).facts.map(({ event }) => event);
    expect(events).toEqual(replay(first).facts.map(({ event }) => event));
  });

  test('its tokens, cost and context, by its own rule', () => {
    const { session, of } = replay(first);
    expect(session?.tokens).toEqual(expected.tokens);
    expect(session?.cost !== null).toBe(expected.cost);
    expect(session?.cost?.amount ?? 1).toBeGreaterThan(0);
    expect(session?.context?.used ?? 1).toBeGreaterThan(0);
    expect(session?.context !== null).toBe(!['gemini', 'qwen'].includes(name));
    const ends = of('agent.turn.ended').map(({ detail }) => detail.tokens);
    expect(ends[0]).toEqual(expected.tokens && REQUEST);
    expect(replay(second).session?.tokens).toEqual(expected.tokens && requests(2));
  });

  test('a turn that was cancelled, and one whose process was killed', () => {
    const { of, items } = replay(first);
    expect(
      of('agent.turn.ended')
        .slice(-2)
        .map(({ detail: { ok, reason } }) => ({ ok, reason })),
    ).toEqual([
      { ok: true, reason: 'cancelled' },
      { ok: false, reason: 'the agent ended' },
    ]);
    expect(items.at(-1)).toMatchObject({ kind: 'turn', ok: false, reason: 'the agent ended' });
  });

  test('another process continues the session, and what it reports again is not repeated', () => {
    const { of, items, session } = replay(second);
    expect(session?.sessionId).toBe(replay(first).session?.sessionId);
    expect(of('agent.session.started')).toMatchObject([{ detail: { how: expected.how } }]);
    const [short = '', long = ''] = of('agent.message').map(({ detail }) => detail.text);
    expect(short).toBe('It is done.');
    expect(long).toMatch(/^word-1 .* word-40$/);
    expect(items.map(({ kind }) => kind)).toEqual(['prompt', 'message', 'turn', 'prompt', 'message', 'turn']);
  });
});

test('a process that ends with an open request leaves none open', () => {
  const [first] = processesOf('claude');
  const asked = first.findIndex(
    (entry) => entry.from === 'agent' && entry.message['method'] === 'session/request_permission',
  );
  const { of, items, session } = replay([...first.slice(0, asked + 1), { from: 'process', ended: null }]);
  expect(session).toMatchObject({ state: 'ended', open: [] });
  expect(of('agent.request.answered')).toMatchObject([{ detail: { answer: 'cancelled' } }]);
  expect(items.filter((item) => item.kind === 'request')).toMatchObject([{ answer: 'cancelled' }]);
  expect(items.filter((item) => item.kind === 'tool').at(-1)).toMatchObject({ status: 'cut-off' });
});

test('the recordings are small and contain nothing of a machine', () => {
  const all = names.map(textOf).join('');
  expect(all.length).toBeLessThan(300_000);
  expect(all).not.toMatch(/\/tmp\/|\/root\/|\/home\/|sk-fake/);
});
