// What the first board and the end of `svc init` say is ready, and the command that comes next.
import { expect, test } from 'vitest';
import type { ReportedFeeds } from '../checks/judge-feeds.ts';
import { firstSteps, nextCommand } from './first-steps.ts';

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
  problem: 'The worker command is not installed for the agent claude.',
  remedy: 'Run: svc skills install --agent claude',
};
const repo = { repo: 'acme/web', by: 'webhook', code: null, why: null, remedy: null };
const feeds: ReportedFeeds = {
  tunnels: [],
  repos: [repo],
  codehost: { state: 'polling', code: null, lastAt: null, why: null, remedy: null, clock: null },
  tracker: { state: 'polling', teams: [] },
};
const polled = { ...repo, by: 'polling', code: 'polling-only', why: 'you chose polling only' };

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
    'svc skills install --agent claude',
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
  expect(nextCommand({ agents, feeds, ticket })).toBe(next);
  expect(firstSteps({ agents, feeds }).map(({ state }) => state)).toEqual(states);
});

test.each<[string, ReportedFeeds | undefined, object]>([
  ['a webhook', feeds, { state: 'ready', words: 'Changes of acme/web arrive at once.' }],
  [
    'polling, as chosen',
    { ...feeds, repos: [polled] },
    { state: 'ready', words: 'Changes are found by polling, within ten minutes.' },
  ],
  [
    'a code host that does not answer',
    {
      ...feeds,
      codehost: {
        ...feeds.codehost,
        state: 'failing',
        why: 'gh is logged out',
        remedy: 'Run: gh auth login',
      },
    },
    { state: 'missing', words: expect.stringContaining('gh is logged out'), remedy: 'Run: gh auth login' },
  ],
  ['not known', undefined, { state: 'unknown' }],
])('the feeds: %s', (_, report, expected) => {
  expect(firstSteps({ agents: [agent('claude')], feeds: report }).at(-1)).toMatchObject(expected);
});
