import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentVariables, agentTemplateProblems, fillAgentTemplate } from './agent-template.ts';

const values: AgentVariables = {
  PROMPT: '/svc-dev:oneshot ENG-1',
  MODEL: 'opus',
  TICKET_ID: 'ENG-1',
  BRANCH_NAME: 'eng-1',
  WORKTREE_PATH: '/wt/ENG-1',
};

test.each([
  [
    ['claude', '-p', '${PROMPT}', '--model', '${MODEL}'],
    ['claude', '-p', '/svc-dev:oneshot ENG-1', '--model', 'opus'],
  ],
  [
    ['${WORKTREE_PATH}/agent', '--for=${TICKET_ID}@${BRANCH_NAME}'],
    ['/wt/ENG-1/agent', '--for=ENG-1@eng-1'],
  ],
  [
    ['agent', '$HOME', '$(id)', '{MODEL}', '$'],
    ['agent', '$HOME', '$(id)', '{MODEL}', '$'],
  ],
])('%j', (template, argv) => {
  expect(fillAgentTemplate(template, values)).toEqual({ ok: true, argv });
});

test.each([
  [[], 'has no program'],
  [
    ['agent', '${PROMT}'],
    'Element 1 of the agent template has the unknown variable ${PROMT}; known are ${PROMPT}',
  ],
  [['agent', '${}'], 'unknown variable ${}'],
  [['agent', '${toString}'], 'unknown variable ${toString}'],
  [['agent', '${MODEL'], 'Element 1 of the agent template has a ${ without a }'],
  [['agent', ...Array.from({ length: 300 }, () => 'x')], 'has 301 elements'],
])('refused: %j', (template, words) => {
  const filled = fillAgentTemplate(template, values);
  expect(filled.ok ? '' : filled.problems.join('\n')).toContain(words);
  expect(agentTemplateProblems(template)).not.toEqual([]);
});

test.each([
  ['a zero character', { TICKET_ID: 'a\0b' }],
  ['no program', { TICKET_ID: '' }],
  ['too long', { TICKET_ID: 'x'.repeat(100_001) }],
])('a value that cannot be an argument: %s', (_name, wrong) => {
  expect(agentTemplateProblems(['${TICKET_ID}'])).toEqual([]);
  expect(fillAgentTemplate(['${TICKET_ID}'], { ...values, ...wrong })).toMatchObject({ ok: false });
});

test('a value stays one argument and is never interpreted as a variable or a pattern', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom('${MODEL}', '$&', "$'", '$1', 'a b; rm', '"', '\n')),
      (text) => {
        fc.pre(!text.includes('\0'));
        const filled = fillAgentTemplate(['agent', 'x${TICKET_ID}y'], { ...values, TICKET_ID: text });
        expect(filled).toEqual({ ok: true, argv: ['agent', `x${text}y`] });
      },
    ),
  );
});
