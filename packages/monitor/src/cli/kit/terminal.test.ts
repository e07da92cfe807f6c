import { expect, test } from 'vitest';
import { isInteractive, meansYes } from './terminal.ts';

test.each([
  [true, undefined, true],
  [true, '', true],
  [true, '1', false],
  [true, '0', false],
  [false, undefined, false],
  [false, '1', false],
])('terminal %s, SVC_AUTONOMOUS %s: interactive %s', (inputIsTerminal, autonomous, interactive) => {
  const environment = autonomous === undefined ? {} : { SVC_AUTONOMOUS: autonomous };
  expect(isInteractive({ inputIsTerminal, environment })).toBe(interactive);
});

test.each([
  ['', true],
  ['  ', true],
  ['y', true],
  ['Y', true],
  ['Yes ', true],
  ['n', false],
  ['N', false],
  ['no', false],
  ['what?', false],
  [undefined, false],
])('the answer %j is yes: %s', (answer, yes) => {
  expect(meansYes(answer)).toBe(yes);
});
