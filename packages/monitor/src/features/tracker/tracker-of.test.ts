import { describe, expect, test } from 'vitest';
import type { Config } from '../config.ts';
import { resolveConfig } from '../configure.ts';
import { projectOfTicket } from './ticket-phase.ts';
import { sharedPrefixes, ticketPrefixOf, ticketWritten, trackedRepos, trackerOf } from './tracker-of.ts';

function configOf(svc: object, secrets: object = {}): Config {
  const file = (layer: 'project' | 'secrets', data: object) => ({
    path: `/conf/${layer}.json`,
    layers: [layer],
    reads: [layer],
    data: { svc: data },
    lineOf: () => 1,
  });
  return resolveConfig([file('project', svc), file('secrets', secrets)], {}).usable;
}

const repository = { org: 'acme', name: 'web' };
const github = (more: object = {}, tracker: object = {}): Config =>
  configOf({ repository, tracker: { provider: 'github', ...tracker }, ...more });

describe('the provider', () => {
  const token = { tracker: { apiToken: 'hush', teamKey: 'ABC' } };
  const project = { githubProject: 'acme/3' };
  test.each([
    ['nothing is set', configOf({ repository }), undefined],
    ['a team and a token', configOf({ repository, tracker: { teamKey: 'ABC' } }, token), 'linear'],
    ['a team without a token', configOf({ repository, tracker: { teamKey: 'ABC', ...project } }), undefined],
    ['a project', configOf({ repository, tracker: project }), 'github'],
    ['a token and a project', configOf({ repository, tracker: project }, token), 'linear'],
    [
      'github, although there is a token',
      configOf({ repository, tracker: { provider: 'github' } }, token),
      'github',
    ],
    [
      'linear without a token',
      configOf({ repository, tracker: { provider: 'linear', ...project } }),
      undefined,
    ],
    ['github without a repository', configOf({ tracker: { provider: 'github' } }), undefined],
    ['github with an impossible repository', github({ repository: { org: 'a b', name: '..' } }), undefined],
  ])('%s', (_, config, provider) => {
    expect(trackerOf(config).provider).toBe(provider);
  });

  test('tickets of github have the configured prefix, else GH, and never that of a team', () => {
    expect(ticketPrefixOf(github())).toBe('GH');
    expect(ticketPrefixOf(github({ project: { ticketPrefix: 'WEB' } }))).toBe('WEB');
    expect(trackerOf(github())).toMatchObject({ teamKey: 'GH', teamId: 'acme/web' });
  });
});

describe('two repositories with one prefix', () => {
  const api = github({ repository: { org: 'acme', name: 'api' } });
  test('neither is guessed', () => {
    expect(sharedPrefixes([github(), api])).toEqual(new Set(['GH']));
    expect(trackedRepos([github(), api])).toEqual([]);
    expect(projectOfTicket([github(), api], 'GH-1')).toBeUndefined();
  });
  test('two checkouts of one repository are one', () => {
    expect(sharedPrefixes([github(), github()])).toEqual(new Set());
    expect(trackedRepos([github(), github()])).toHaveLength(1);
  });
  test('with their own prefixes both are followed', () => {
    const other = github({ repository: { org: 'acme', name: 'api' }, project: { ticketPrefix: 'API' } });
    expect(trackedRepos([github(), other]).map(({ teamKey }) => teamKey)).toEqual(['GH', 'API']);
    expect(projectOfTicket([github(), other], 'api-3')).toBe(other);
  });
});

test.each([
  ['gh-12', 'GH-12'],
  ['#12', 'GH-12'],
  ['https://codehost.example/acme/web/issues/12', 'GH-12'],
  ['https://codehost.example/ACME/web/issues/12#issuecomment-5', 'GH-12'],
  ['https://codehost.example/acme/api/issues/12', undefined],
  ['https://codehost.example/acme/web/pull/12', undefined],
  ['#12a', undefined],
  ['#', undefined],
  ['#12; rm -rf /', undefined],
])('a ticket of github is written %j: %j', (text, ticket) => {
  expect(ticketWritten(text, [github()])).toBe(ticket);
});

test('#12 is nothing without a project, or with several', () => {
  const other = github({ repository: { org: 'acme', name: 'api' }, project: { ticketPrefix: 'API' } });
  expect(ticketWritten('#12')).toBeUndefined();
  expect(ticketWritten('#12', [github(), other])).toBeUndefined();
  expect(ticketWritten('https://h/acme/api/issues/3', [github(), other])).toBe('API-3');
});
