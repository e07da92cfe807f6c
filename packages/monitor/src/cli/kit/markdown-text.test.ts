import { expect, test } from 'vitest';
import { markdownLines } from './markdown-text.ts';

test.each([
  ['- first\n* second\n  - deeper', ['• first', '• second', '  • deeper']],
  ['1. one\n2) two', ['1. one', '2) two']],
  ['## What I did', ['What I did']],
  ['**Done**: `a ** b` and **two words**', ['Done: a ** b and two words']],
  ['a * b * c', ['a * b * c']],
  ['2 ** 3 ** 4', ['2 ** 3 ** 4']],
  ['```ts\n- not a list\n```\nafter', ['    - not a list', 'after']],
  ['````\n```\n````', ['    ```']],
  ['---', ['---']],
  ['-', ['-']],
  ['', ['']],
])('%j', (text, lines) => expect(markdownLines(text)).toEqual(lines));
