// Whether payloads may pass through a relay: never without a choice, unless the repository is known to be public.
import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../configure.ts';
import { type AskingDeliveries, askDeliveries, type Visibility } from './deliveries.ts';
import type { Prompter } from './prompter.ts';

const publicRelay = 'https://relay.example';
const polling = { way: 'polling', relay: null };

function asking(
  visibility: Visibility,
  { github = {}, ...more }: Partial<AskingDeliveries> & { github?: object } = {},
): AskingDeliveries {
  const data = { svc: { monitor: { github } } };
  const file = { path: 'f', layers: ['global'], reads: ['global'], data, lineOf: () => undefined } as const;
  const { config } = resolveConfig([file], {});
  if (config === undefined) throw new Error('no configuration');
  return {
    repository: 'acme/web',
    config,
    given: undefined,
    publicRelay,
    hasReadKey: false,
    isHooked: () => false,
    visibility: async () => visibility,
    prompter: undefined,
    ...more,
  };
}

describe('with --yes', () => {
  test.each<[string, Visibility, Parameters<typeof asking>[1], object]>([
    ['a public repository', 'public', {}, { way: 'public-relay', relay: publicRelay }],
    ['a private one', 'private', {}, polling],
    ['one that gh cannot see', 'unknown', {}, polling],
    [
      'a private one that was allowed',
      'private',
      { given: { way: 'public-relay' } },
      { way: 'public-relay' },
    ],
    ['a public one without webhooks', 'public', { given: { way: 'polling' } }, polling],
    ['a public one that was polled', 'public', { github: { pollRepos: ['Acme/Web'] } }, polling],
    [
      'a private one, when another project of this machine uses the public relay',
      'private',
      { github: { smeeChannel: 'https://relay.example/abc' } },
      polling,
    ],
    [
      'a private one whose deliveries already pass through the public relay',
      'private',
      { github: { smeeChannel: 'https://relay.example/abc' }, isHooked: () => true },
      { way: 'public-relay' },
    ],
    [
      'a private one, when this machine has its own relay',
      'private',
      { github: { smeeChannel: 'https://own.example/in/abc' }, hasReadKey: true },
      { way: 'own-relay', relay: 'https://own.example/in' },
    ],
  ])('%s', async (_, visibility, given, expected) => {
    expect(await askDeliveries(asking(visibility, given))).toMatchObject(expected);
  });
});

/** Chooses `way`, then types each answer. */
function person(way: string, ...typed: string[]) {
  const read: string[] = [];
  const prompter: Prompter = {
    async choose({ message, options, suggested }) {
      read.push(message, ...options.map(({ label }) => label), `suggested: ${suggested}`);
      return way;
    },
    async text({ check }) {
      for (;;) {
        const answer = typed.shift() ?? '';
        const problem = check(answer);
        if (problem === undefined) return answer;
        read.push(problem);
      }
    },
    secret: () => Promise.reject(new Error('no secret is asked for')),
    say: (line) => void read.push(line),
  };
  return { prompter, read };
}

describe('at a terminal', () => {
  test('it says what each way means, and suggests polling for a private repository', async () => {
    const { prompter, read } = person('polling');
    expect(await askDeliveries(asking('private', { prompter }))).toEqual(polling);
    expect(read).toEqual([
      'How may events of acme/web (private) reach this machine?',
      expect.stringContaining(`${publicRelay}: at once, but anyone with the channel’s address can read`),
      expect.stringContaining('readable only with its read key'),
      expect.stringContaining('nothing passes through a relay'),
      'suggested: polling',
    ]);
  });

  test('the address of an own relay is asked for, and checked', async () => {
    const { prompter, read } = person('own-relay', 'http://relay.example', 'https://relay.example/');
    expect(await askDeliveries(asking('unknown', { prompter }))).toEqual({
      way: 'own-relay',
      relay: 'https://relay.example',
    });
    expect(read.at(-1)).toBe('Expected an https URL, or an http URL on this machine.');
  });
});

test('the public relay cannot silently replace an own one', async () => {
  const given = { way: 'public-relay' } as const;
  const github = { smeeChannel: 'https://own.example/in/abc' };
  await expect(askDeliveries(asking('public', { given, github, hasReadKey: true }))).rejects.toThrow(
    'already uses its own relay, https://own.example/in',
  );
});
