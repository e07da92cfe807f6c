import { expect, test } from 'vitest';
import { blocksOf, partsOf, shownText } from './agent-text.tsx';

const escape = String.fromCharCode(0x1b);

test.each([
  [`${escape}[31mred${escape}[0m${escape}]0;t${String.fromCharCode(7)}`, 'red'],
  ['a\u202eb\u2066\u200b', 'a[U+202E]b[U+2066][U+200B]'],
  ['10 %\r20 %\r\ndone\n', '10 %\n20 %\ndone\n'],
  ['a\tb\n\u0000\u2028', 'a\tb\n[U+0000][U+2028]'],
  ['<b>ü</b> 日本', '<b>ü</b> 日本'],
])('%j is shown as %j', (text, shown) => expect(shownText(text)).toBe(shown));

test.each([
  ['plain\n\ntext', ['text plain\n\ntext']],
  ['a\n```ts\ncode\n\n  more\n```\nb', ['text a', 'code code\n\n  more', 'text b']],
  ['a\n```\nnot closed', ['text a', 'code not closed']],
  ['````\n```\n````', ['code ```']],
  ['~~~\nx\n```\n~~~', ['code x\n```']],
  ['', []],
])('%j has the blocks %j', (text, blocks) =>
  expect(blocksOf(text).map((block) => `${block.kind} ${block.text}`)).toEqual(blocks),
);

test.each([
  ['first\nthe lines\n- one\n- two\nafter', ['first\nthe lines', ['0 • one', '0 • two'], 'after']],
  ['1. one\n   goes on\n\n2. two\n   - deeper', [['0 1. one\ngoes on', '0 2. two', '1 • deeper']]],
  ['-not an item\n3 cars', ['-not an item\n3 cars']],
  ['- one\n\nnext', [['0 • one'], 'next']],
])('%j has the lists and texts %j', (text, parts) =>
  expect(
    partsOf(text).map((part) =>
      part.kind === 'text' ? part.text : part.items.map((item) => `${item.depth} ${item.mark} ${item.text}`),
    ),
  ).toEqual(parts),
);
