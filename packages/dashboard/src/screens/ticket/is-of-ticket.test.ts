import { expect, test } from 'vitest';
import { isOfTicket } from './worker-events.tsx';

test.each([
  [{ ticket: 'abc-1' }, undefined, true],
  [{ ticket: 'ABC-2' }, undefined, false],
  [{}, undefined, false],
  [{ ticket: 'ABC-1', orchestrator: 'run-1' }, 'run-1', true],
  [{ ticket: 'ABC-1', orchestrator: 'run-2' }, 'run-1', false],
  [{ ticket: 'ABC-1' }, 'run-1', true],
])('%j in the run %s: %s', (scope, run, is) => expect(isOfTicket({ scope }, 'ABC-1', run)).toBe(is));
