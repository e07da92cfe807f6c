import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  errorTail,
  inOneLine,
  LONGEST_OUTPUT_TEXT,
  type OutputLine,
  readOutputLine,
} from './agent-output.ts';

const assistant = (...content: object[]): string =>
  JSON.stringify({ type: 'assistant', message: { content } });

test.each<[string, string, Partial<OutputLine>[]]>([
  [
    'its text',
    assistant({ type: 'text', text: 'Done.\n\tAll of it.' }),
    [{ kind: 'text', text: 'Done.\n\tAll of it.' }],
  ],
  [
    'a tool by its name alone',
    assistant(
      { type: 'text', text: 'Now' },
      { type: 'tool_use', name: 'Bash', input: { command: 'echo secret' } },
    ),
    [
      { kind: 'text', text: 'Now' },
      { kind: 'tool', text: 'Bash' },
    ],
  ],
  ['a session', '{"type":"system","subtype":"init","model":"m-1"}', [{ kind: 'session', text: 'm-1' }]],
  [
    'a good end',
    '{"type":"result","subtype":"success","result":"Shipped."}',
    [{ kind: 'result', text: 'Shipped.', ok: true }],
  ],
  [
    'a bad end',
    '{"type":"result","subtype":"error_max_turns"}',
    [{ kind: 'result', text: 'error_max_turns', ok: false }],
  ],
  [
    'an error that calls itself a success',
    '{"type":"result","subtype":"success","is_error":true}',
    [{ ok: false }],
  ],
  [
    'a tool result',
    '{"type":"user","message":{"content":[{"type":"tool_result","content":"secret"}]}}',
    [{ kind: 'other', text: 'user' }],
  ],
  ['no JSON', 'Killed', [{ kind: 'unreadable', text: 'Killed' }]],
  ['half a line', '{"type":"assi', [{ kind: 'unreadable' }]],
  ['JSON without a type', '[1]', [{ kind: 'unreadable' }]],
  ['an empty line', '  ', []],
])('%s', (_, line, expected) => {
  const lines = readOutputLine(line, 7);
  expect(lines).toMatchObject(expected.map((one) => ({ offset: 7, cut: false, ...one })));
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('control characters, colours and direction marks are removed', () => {
  const [line] = readOutputLine(
    assistant({ type: 'text', text: '\u001b[31mred\u001b[0m\u0007 \u202Eleft\u0000\r\nnext' }),
    0,
  );
  expect(line?.text).toBe('red left\nnext');
});

test('a long text is cut and marked', () => {
  const [line] = readOutputLine(assistant({ type: 'text', text: '😀'.repeat(5_000) }), 0);
  expect(line?.cut).toBe(true);
  expect(line?.text.length).toBeLessThanOrEqual(LONGEST_OUTPUT_TEXT);
  expect(line?.text.isWellFormed()).toBe(true);
});

test('any line is read and bounded', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.string().map((text) => assistant({ type: 'text', text })),
      ),
      (line) => {
        for (const { text } of readOutputLine(line, 0)) {
          expect(text.length).toBeLessThanOrEqual(LONGEST_OUTPUT_TEXT);
          expect(text.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});

describe('the end of the standard error', () => {
  const [escape, bell, turn] = ['\u001b', '\u0007', '\u202e'];

  test.each([
    ['nothing', '', ''],
    ['empty lines', '\n \n\n', ''],
    ['one line', 'exec: claude: not found\n', 'exec: claude: not found'],
    ['colours and titles', `${escape}[31mred${escape}[0m ${escape}]0;title${bell}${turn}end\n`, 'red end'],
    ['a progress bar', '10%\r20%\r100%\r\nfailed', '10%\n20%\n100%\nfailed'],
  ])('%s', (_, text, expected) => {
    expect(errorTail(text)).toBe(expected);
  });

  test('at most ten lines and 700 characters, the last ones', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    expect(errorTail(lines.join('\n')).split('\n')).toEqual(lines.slice(-10));
    const long = errorTail(
      Array.from({ length: 5 }, (_, index) => `${index} ${'x'.repeat(9_000)}`).join('\n'),
    );
    expect(long.length).toBeLessThanOrEqual(700);
    expect(long.split('\n').map((line) => line[0])).toEqual(['3', '4']);
    expect(inOneLine('a\nb')).toBe('a | b');
    expect(inOneLine('a\n\n b\n\n')).toBe('a |  b');
  });
});
