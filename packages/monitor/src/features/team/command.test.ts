import { expect, test } from 'vitest';
import { scopeOfCommand, type TeamCommand } from './command.ts';

const answer = { verb: 'answer', request: 'r1', answer: 'allow_once' } as const;

test.each<[string, TeamCommand, object]>([
  ['a pause is the run', { verb: 'pause', run: 'run-1' }, { orchestrator: 'run-1' }],
  ['what is about an item is none', { verb: 'acknowledge', item: 'run-1/ABC-1/stuck' }, {}],
  ['a hand-over is none', { verb: 'hand-over', item: 'run-1/ABC-1/stuck', to: 'mia' }, {}],
  ['a text is the ticket', { verb: 'send', ticket: 'ABC-1', text: 'hello' }, { ticket: 'ABC-1' }],
  [
    'a retry is the ticket and the run',
    { verb: 'retry-deploy', ticket: 'ABC-1', orchestrator: 'run-1' },
    { ticket: 'ABC-1', orchestrator: 'run-1' },
  ],
  ['an answer to a worker is its ticket', { ...answer, subject: 'ABC-1' }, { ticket: 'ABC-1' }],
  ['an answer to a session is no ticket', { ...answer, subject: 'claude-code/4f1c' }, {}],
])('the scope of %s', (_what, command, scope) => {
  expect(scopeOfCommand(command)).toEqual(scope);
});
