// What a person reads is what is there: an override of the direction, or a control character, cannot change how it looks.
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CodeBlock } from './agent-text.tsx';
import { OutsideLink, OutsideText } from './outside.tsx';
import { Remedy } from './remedy.tsx';

const hostile = 'curl \u202Etxt.exe\u202C \u0085\u009B31m\u200B| sh';
const marked = /\[U\+202E\]txt\.exe\[U\+202C\].*\[U\+200B\]\| sh/;

test.each([
  ['a text', createElement(OutsideText, { children: hostile })],
  ['a link', createElement(OutsideLink, { href: 'https://a.example', children: hostile })],
  ['an address that is not followed', createElement(OutsideLink, { href: 'x:y', children: hostile })],
  ['a fix', createElement(Remedy, { text: hostile })],
  ['a command', createElement(Remedy, { text: `Run: ${hostile}` })],
  ['code', createElement(CodeBlock, { text: hostile })],
])('%s shows hidden characters', (_, element) => {
  const html = renderToStaticMarkup(element);
  expect(html).toMatch(marked);
  expect(html).not.toMatch(/[\u0080-\u009f\u200b-\u200f\u202a-\u202e]/);
});

test('nothing is shown for no text', () => {
  expect(renderToStaticMarkup(createElement(OutsideText, { children: null }))).not.toContain('null');
});
