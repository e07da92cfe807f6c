import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentStream, noAgentStream, readAgentStream } from './agent-output.ts';

const read = (...lines: (object | string)[]): AgentStream =>
  lines.reduce<AgentStream>(
    (state, line) => readAgentStream(state, typeof line === 'string' ? line : JSON.stringify(line)),
    noAgentStream,
  );

const init = (session: string) => ({ type: 'system', subtype: 'init', session_id: session, model: 'm' });
const says = (session: string, id: string, content: object[], usage: object = {}) => ({
  type: 'assistant',
  session_id: session,
  message: { id, content, usage },
});
const text = (words: string) => ({ type: 'text', text: words });
const result = (session: string, usd: number, usage: object, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: session,
  total_cost_usd: usd,
  usage,
  result: 'All done.',
  ...more,
});
const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 70,
  output_tokens: 5,
};

test('a session from its start to its end', () => {
  const running = read(init('s1'), says('s1', 'm1', [text('I look at\nthe code.')], usage), {
    type: 'user',
    session_id: 's1',
    message: { content: [{ type: 'tool_result', content: 'secret' }] },
  });
  expect(running).toMatchObject({
    cost: { usd: null, inputTokens: 100, outputTokens: 5 },
    sessionId: 's1',
    lastActivity: 'I look at the code.',
    ended: null,
    lines: 3,
    garbage: 0,
  });
  const ended = readAgentStream(running, JSON.stringify(result('s1', 0.25, { ...usage, output_tokens: 50 })));
  expect(ended).toMatchObject({
    cost: { usd: 0.25, inputTokens: 100, outputTokens: 50 },
    ended: { ok: true, reason: 'success' },
    lines: 4,
  });
});

test('the blocks of one message count once; a tool is shown by its name only', () => {
  const state = read(
    init('s1'),
    says('s1', 'm1', [text('one')], usage),
    says('s1', 'm2', [text('two')], usage),
    says('s1', 'm1', [{ type: 'tool_use', name: 'Bash', input: { command: 'echo $TOKEN' } }], {
      ...usage,
      output_tokens: 9,
    }),
  );
  expect(state.cost).toEqual({ usd: null, inputTokens: 200, outputTokens: 14 });
  expect(state.lastActivity).toBe('uses Bash');
});

test('attempts add up; the end of one is not the end of the next', () => {
  const first = [init('s1'), result('s1', 0.5, usage, { is_error: true, subtype: 'error_during_execution' })];
  expect(read(...first).ended).toEqual({ ok: false, reason: 'error_during_execution: All done.' });
  const second = read(...first, init('s2'));
  expect(second).toMatchObject({ ended: null, sessionId: 's2', cost: { usd: 0.5, inputTokens: 100 } });
  expect(read(...first, init('s2'), result('s2', 0.25, usage)).cost).toEqual({
    usd: 0.75,
    inputTokens: 200,
    outputTokens: 10,
  });
  // A session that reports its result again, with the total.
  expect(read(...first, result('s1', 0.75, usage)).cost).toEqual({
    usd: 0.75,
    inputTokens: 100,
    outputTokens: 5,
  });
});

test.each([
  [{ is_error: true }, { ok: false, reason: 'success: All done.' }],
  [
    { subtype: 'error_max_turns', result: undefined },
    { ok: false, reason: 'error_max_turns' },
  ],
  [{ subtype: undefined }, { ok: false, reason: 'unknown: All done.' }],
])('a result with %j', (more, ended) => {
  expect(read(init('s1'), result('s1', 0, {}, more)).ended).toEqual(ended);
});

test.each(['{"type":', 'Error: no such file', '[1]', 'null', '"text"', '{}', '{"type":7}'])(
  'garbage is counted: %s',
  (line) => {
    expect(read(init('s1'), line)).toEqual({ ...read(init('s1')), lines: 2, garbage: 1 });
  },
);

test('impossible numbers are ignored', () => {
  const wrong = { input_tokens: -5, output_tokens: 'many', cache_read_input_tokens: 1e300 };
  const state = read(init('s1'), result('s1', -1, wrong), '{"type":"result","total_cost_usd":1e999}');
  expect(state.cost).toEqual({ usd: null, inputTokens: 0, outputTokens: 0 });
});

test('control characters, colours and direction marks are removed; long text is cut', () => {
  const nasty = '\u001b[31mred\u001b[0m \u001b]0;title\u0007\u202eevil\u0000\r\n\tend';
  expect(read(says('s', 'm', [text(nasty)])).lastActivity).toBe('red evil end');
  const long = read(says('s', 'm', [text('😀'.repeat(1000))])).lastActivity ?? '';
  expect(long.length).toBeLessThanOrEqual(200);
  expect(long.isWellFormed()).toBe(true);
});

test('the number of sessions is bounded, and all their costs count', () => {
  const lines = Array.from({ length: 250 }, (_, index) => result(`s${index}`, 1, usage));
  const state = read(...lines);
  expect(state.sessions.length).toBeLessThanOrEqual(100);
  expect(state.cost).toEqual({ usd: 250, inputTokens: 25_000, outputTokens: 1_250 });
});

test('any lines: never throws, never decreases, always bounded', () => {
  const anyLine = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        type: fc.constantFrom('system', 'assistant', 'user', 'result', 'other'),
        subtype: fc.constantFrom('init', 'success', 'error_max_turns'),
        session_id: fc.constantFrom('a', 'b', undefined, 7),
        total_cost_usd: fc.oneof(fc.double(), fc.constant(0.5)),
        usage: fc.record({ input_tokens: fc.oneof(fc.nat(), fc.anything()) }),
        message: fc.oneof(
          fc.anything(),
          fc.record({
            id: fc.constantFrom('1', '2'),
            content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'binary' }) })),
            usage: fc.record({ output_tokens: fc.nat() }),
          }),
        ),
      })
      .map(
        (fields) =>
          JSON.stringify(fields, (_key, value: unknown) => (typeof value === 'bigint' ? 0 : value)) ?? '',
      ),
  );
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 30 }), (lines) => {
      let state = noAgentStream;
      for (const line of lines) {
        const next = readAgentStream(state, line);
        expect(next.cost.usd ?? 0).toBeGreaterThanOrEqual(state.cost.usd ?? 0);
        expect(next.cost.inputTokens).toBeGreaterThanOrEqual(state.cost.inputTokens);
        expect(next.cost.outputTokens).toBeGreaterThanOrEqual(state.cost.outputTokens);
        expect(next.lastActivity?.length ?? 0).toBeLessThanOrEqual(200);
        expect(next.lastActivity ?? '').not.toMatch(/[\p{Cc}\p{Cf}]/u);
        state = next;
      }
    }),
  );
});
