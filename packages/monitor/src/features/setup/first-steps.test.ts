// What the first board and the end of `svc init` say is ready, and the command that comes next.
import { expect, test } from 'vitest';
import { doctorFinding } from '../../kernel/check/finding.ts';
import { type FirstStepsInput, firstSteps, nextCommand } from './first-steps.ts';

const agent = (name: string, more: object = {}) => ({
  name,
  default: name === 'claude',
  program: `/bin/${name}`,
  problem: null,
  remedy: null,
  ...more,
});
const program = 'opencode-ai';
const missing = (name: string) =>
  agent(name, {
    program: null,
    problem: `The agent ${name} is not installed: ${name} was not found in the daemon's PATH.`,
    remedy: `Run: npm install --global ${program}. If ${name} is in your own PATH, the daemon was started without it: svc monitor restart`,
  });
const noSkill = {
  problem: 'The worker command /svc-dev:work does not exist: svc-dev has no skill work.',
  remedy: 'Run: svc config set svc.orchestration.workerCommand /svc-dev:oneshot',
};
const health = {
  findings: [doctorFinding('feeds', 'ok', 'the codehost feed is live')],
  sources: { repos: [{ repo: 'acme/web', by: 'webhook' as const }] },
};

test.each([
  ['all is there', [agent('claude')], 'GH-1', 'svc orchestrate start GH-1', ['ready', 'ready', 'ready']],
  [
    'no ticket yet',
    [agent('claude')],
    undefined,
    'svc orchestrate start <ticket>',
    ['ready', 'ready', 'ready'],
  ],
  [
    'another agent than the default',
    [missing('claude'), agent('codex')],
    'GH-1',
    'svc orchestrate start GH-1 --agent codex',
    ['ready', 'ready', 'ready'],
  ],
  [
    'its skill is missing',
    [agent('claude', noSkill), agent('codex')],
    'GH-1',
    'svc config set svc.orchestration.workerCommand /svc-dev:oneshot',
    ['ready', 'missing', 'ready'],
  ],
  [
    'no agent',
    [missing('claude'), missing('codex')],
    'GH-1',
    'npm install --global opencode-ai',
    ['missing', 'ready'],
  ],
  ['nothing is known', undefined, 'GH-1', 'svc agents list', ['unknown', 'ready']],
])('%s', (_, agents, ticket, next, states) => {
  expect(nextCommand({ agents, health, ticket })).toBe(next);
  expect(firstSteps({ agents, health }).map(({ state }) => state)).toEqual(states);
});

test.each<[string, FirstStepsInput['health'], object]>([
  ['a webhook', health, { state: 'ready', words: 'Changes of acme/web arrive at once.' }],
  [
    'polling, as chosen',
    { ...health, sources: { repos: [{ repo: 'acme/web', by: 'polling' }] } },
    { state: 'ready', words: 'Changes are found by polling, within ten minutes.' },
  ],
  [
    'a code host that does not answer',
    {
      ...health,
      findings: [
        doctorFinding('log', 'broken', 'of another part'),
        doctorFinding('code-host', 'broken', 'the code host cannot be polled: gh is logged out', {
          remedy: 'Run: gh auth login',
        }),
      ],
    },
    {
      state: 'missing',
      words: 'The code host cannot be polled: gh is logged out.',
      remedy: 'Run: gh auth login',
    },
  ],
  ['not known', undefined, { state: 'unknown' }],
])('the feeds: %s', (_, known, expected) => {
  expect(firstSteps({ agents: [agent('claude')], health: known }).at(-1)).toMatchObject(expected);
});
