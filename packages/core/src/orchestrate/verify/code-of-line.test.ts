import { expect, test } from 'vitest';
import { partsOfLine } from './code-of-line.ts';

test.each([
  ['javascript', `it.skip('a // b', x) // why`, `it.skip('', x) `, ' why'],
  ['javascript', 'a /* one */ b /* two', 'a  b ', ' one   two '],
  ['javascript', ' * it.skip(', '', '* it.skip('],
  ['javascript', '`it\'s` + "\\"" + x', '`` + "" + x', ''],
  ['python', `assert x == "#" # note`, `assert x == "" `, ' note'],
  ['rust', `fn f<'a>(x: &'a str) { '"' }`, `fn f<'a>(x: &'a str) { '' }`, ''],
  ['rust', '#[ignore] // slow', '#[ignore] ', ' slow'],
  ['php', '#[Test]', '#[Test]', ''],
  ['shell', 'echo $# # count', 'echo $# ', ' count'],
] as const)('%s: %s', (language, text, code, comment) => {
  expect(partsOfLine(text, language)).toEqual({ code, comment });
});
