// The questions: what is asked, what is suggested, and what happens after a wrong answer.
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../kernel/failure.ts';
import { resolveConfig } from '../../configure.ts';
import { type Asking, collectAnswers } from './answers.ts';
import type { Lookups } from './lookups.ts';
import type { Prompter } from './prompter.ts';

const teams = [
  { id: '1', key: 'ABC', name: 'Alphabet' },
  { id: '2', key: 'OPS', name: 'Operations' },
];

function asking(
  given: Partial<Asking> & { config?: never; data?: unknown; stored?: string; look?: Partial<Lookups> } = {},
): Asking & { warnings: string[] } {
  const { data = {}, stored, look, ...rest } = given;
  const file = { path: 'f', layers: ['project'], reads: ['project'], data, lineOf: () => undefined } as const;
  const { config } = resolveConfig([file], {});
  if (config === undefined) throw new Error('no configuration');
  const warnings: string[] = [];
  return {
    given: {},
    config,
    checkout: { root: '/w', repository: 'acme/web' },
    storedToken: async () => stored,
    otherPrefixes: new Set(),
    relays: { publicRelay: 'https://relay.example', hasReadKey: false, isHooked: () => false },
    lookups: {
      checkout: async () => ({ root: '/w', repository: 'acme/web' }),
      repository: async (repository) =>
        repository === 'acme/gone' ? { ok: false, problem: 'no repository acme/gone' } : { ok: true },
      visibility: async () => 'public',
      environments: async () => [{ name: 'production', production: true }],
      teams: async (token) =>
        token === 'right-token'
          ? { ok: true, teams }
          : { ok: false, refused: true, problem: new Failure('tracker-refused-token', 'refused') },
      states: async () => [],
      ...look,
    },
    prompter: undefined,
    warn: (line) => void warnings.push(line),
    warnings,
    ...rest,
  };
}

/** Answers in turn; an empty one is Enter. The form of each is checked as the real prompter does. */
function person(...answers: string[]) {
  const said: string[] = [];
  const next = (message: string, check: (answer: string) => string | undefined, suggested = ''): string => {
    for (;;) {
      const typed = answers.shift();
      if (typed === undefined) throw new Error(`nobody answers: ${message}`);
      const answer = typed === '' ? suggested : typed;
      said.push(message);
      const wrong = check(answer);
      if (wrong === undefined) return answer;
      said.push(wrong);
    }
  };
  const prompter: Prompter = {
    text: async ({ message, suggested, check }) => next(message, check, suggested),
    secret: async ({ message, check }) => next(message, check),
    choose: async ({ message, options, suggested }) =>
      next(message, () => undefined, suggested ?? options[0]?.value),
    say: (line) => void said.push(line),
  };
  return { prompter, said };
}

describe('with --yes', () => {
  test('every suggestion is used', async () => {
    expect(await collectAnswers(asking({ given: { token: 'right-token', team: 'OPS' } }))).toEqual({
      repository: 'acme/web',
      projectKey: 'web',
      tracker: 'linear',
      token: { value: 'right-token', isNew: true },
      ticketPrefix: 'OPS',
      environment: 'production',
      deliveries: { way: 'public-relay', relay: 'https://relay.example' },
      states: {},
    });
  });

  test('configured values win over detected ones, and a stored token is kept', async () => {
    const data = {
      svc: {
        projectKey: 'shop',
        repository: { org: 'acme', name: 'shop' },
        project: { ticketPrefix: 'OPS' },
        deploy: { 'acme/shop': { productionEnvironment: 'eu', skipDeployVerification: false } },
      },
    };
    expect(await collectAnswers(asking({ data, stored: 'right-token' }))).toMatchObject({
      repository: 'acme/shop',
      projectKey: 'shop',
      token: { value: 'right-token', isNew: false },
      ticketPrefix: 'OPS',
      environment: 'eu',
    });
    const off = { svc: { deploy: { 'acme/web': { skipDeployVerification: true } } } };
    expect(await collectAnswers(asking({ data: off }))).toMatchObject({ environment: null });
  });

  test('without a token the tickets are the issues of the repository', async () => {
    const github = { tracker: 'github', token: undefined };
    expect(await collectAnswers(asking())).toMatchObject({ ...github, ticketPrefix: 'GH' });
    expect(await collectAnswers(asking({ otherPrefixes: new Set(['GH']) }))).toMatchObject({
      ...github,
      ticketPrefix: 'WEB',
    });
    const named = { given: { tracker: 'github', ticketPrefix: 'SHOP' }, stored: 'right-token' };
    expect(await collectAnswers(asking(named))).toMatchObject({ ...github, ticketPrefix: 'SHOP' });
  });

  test('without a tracker there is no team, and a prefix from before is kept without one', async () => {
    const none = { tracker: undefined, token: undefined };
    expect(await collectAnswers(asking({ given: { tracker: 'none' } }))).toMatchObject({
      ...none,
      ticketPrefix: undefined,
    });
    const data = { svc: { project: { ticketPrefix: 'OPS' } } };
    expect(await collectAnswers(asking({ data }))).toMatchObject({ ...none, ticketPrefix: 'OPS' });
  });

  test.each<[string, Parameters<typeof asking>[0], RegExp, string]>([
    [
      'no remote',
      { checkout: { root: '/w', repository: undefined } },
      /repository cannot be detected/,
      'usage',
    ],
    ['several teams', { stored: 'right-token' }, /several teams: ABC, OPS/, 'usage'],
    [
      'no team',
      { stored: 'right-token', look: { teams: async () => ({ ok: true, teams: [] }) } },
      /access to no team/,
      'usage',
    ],
    ['a wrong token', { given: { token: 'wrong-token' } }, /^refused$/, 'tracker-refused-token'],
    ['half a token', { given: { token: 'two words' } }, /one word of at least 8/, 'usage'],
    ['an empty token', { given: { token: '' } }, /one word of at least 8/, 'usage'],
    ['a wrong form', { given: { repo: 'web' } }, /^--repo: Expected owner\/repo\./, 'usage'],
    ['a repository that is not there', { given: { repo: 'acme/gone' } }, /^--repo: no repository/, 'usage'],
    ['a wrong key', { given: { projectKey: 'a b' } }, /^--project-key: Expected a plain name/, 'usage'],
    ['a wrong team', { stored: 'right-token', given: { team: 'ABD' } }, /no team ABD\. .* ABC, OPS/, 'usage'],
    ['two teams', { given: { team: 'ABC', ticketPrefix: 'OPS' } }, /must be equal/, 'usage'],
    ['an unknown tracker', { given: { tracker: 'jira' } }, /--tracker: Expected one of github/, 'usage'],
    [
      'a prefix that is taken',
      { given: { tracker: 'github', ticketPrefix: 'ops' }, otherPrefixes: new Set(['OPS']) },
      /uses OPS for its tickets/,
      'usage',
    ],
    ['a slip', { given: { environment: 'prodution' } }, /Did you mean production\?/, 'usage'],
  ])('%s ends it with an error', async (_, given, words, code) => {
    const error = await collectAnswers(asking(given)).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Failure);
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
  });

  test('what cannot be checked is used, with a warning', async () => {
    const offline = asking({
      given: { team: 'ABC', token: 'some-token' },
      look: {
        repository: async () => ({ ok: true, warning: 'gh is missing' }),
        teams: async () => ({
          ok: false,
          refused: false,
          problem: new Failure('tracker-unavailable', 'no answer.'),
        }),
      },
    });
    expect(await collectAnswers(offline)).toMatchObject({ repository: 'acme/web', ticketPrefix: 'ABC' });
    expect(offline.warnings).toEqual(['gh is missing', 'no answer. The token is used unchecked.']);
  });
});

describe('at a terminal', () => {
  test('Enter six times accepts every suggestion', async () => {
    const { prompter, said } = person('', '', '', '', '', '');
    expect(await collectAnswers(asking({ prompter, stored: 'right-token' }))).toMatchObject({
      repository: 'acme/web',
      projectKey: 'web',
      token: { isNew: false },
      ticketPrefix: 'ABC',
      environment: 'production',
    });
    expect(said).toHaveLength(6);
  });

  test('Enter five times without a token: the issues of the repository', async () => {
    const { prompter, said } = person('', '', '', '', '');
    expect(await collectAnswers(asking({ prompter }))).toMatchObject({
      tracker: 'github',
      ticketPrefix: 'GH',
    });
    expect(said[2]).toBe('Where are your tickets?');
  });

  test('a flag is not asked again', async () => {
    const { prompter, said } = person('');
    const deliveries = { way: 'polling' } as const;
    const given = { repo: 'acme/web', projectKey: 'k', token: 'right-token', team: 'OPS', deliveries };
    await collectAnswers(asking({ prompter, given }));
    expect(said).toEqual([expect.stringContaining('Deploy environment')]);
  });

  test('a rejected stored token is reported, and Enter then continues without a tracker', async () => {
    const { prompter, said } = person('', '', '', '', '', 'none', '');
    const answers = await collectAnswers(asking({ prompter, stored: 'old-token' }));
    expect(answers).toMatchObject({ token: undefined, ticketPrefix: undefined, environment: null });
    expect(said).toContain('refused');
    expect(said).toContain('API token of the issue tracker (Enter: no tracker)');
  });

  test('without a tracker the prefix of the tickets can be given', async () => {
    const { prompter, said } = person('', '', 'none', 'a-b', 'XYZ', '', '');
    expect(await collectAnswers(asking({ prompter }))).toMatchObject({ ticketPrefix: 'XYZ' });
    expect(said).toContain('Expected letters and digits, such as ABC.');
  });
});
