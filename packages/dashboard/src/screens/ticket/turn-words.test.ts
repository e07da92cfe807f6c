import { expect, it } from 'vitest';
import { turnWords } from './conversation-rows.tsx';

it.each([
  [true, 'end_turn', null],
  [true, 'cancelled', 'Stopped'],
  [false, 'cancelled', 'Stopped'],
  [true, 'refusal', 'The agent refused'],
  [true, '', 'Turn ended'],
  [true, 'out_of_ideas', 'Turn ended: out_of_ideas'],
  [false, 'end_turn', 'Turn failed: end_turn'],
  [false, 'Internal error', 'Turn failed: Internal error'],
])('a turn that ended %s with %j reads %j', (ok, reason, words) => expect(turnWords(ok, reason)).toBe(words));
