import { describe, expect, test } from 'vitest';
import type { DeployPolicy } from '../workers/deploy-fields.ts';
import { defaultDeployPolicy } from '../workers/deploy-fields.ts';
import {
  afterApplied,
  afterRelaxed,
  deployPolicyFor,
  deployPolicyForTicket,
  type PolicyFacts,
  type ProjectPolicies,
  type RepoPolicy,
} from './policy.ts';
import { policyProblems, policyViews } from './policy-view.ts';
import { minute } from './testing/plain-facts.ts';

const strict: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
const lax: DeployPolicy = defaultDeployPolicy;
const live = { ...strict, productionEnvironment: 'live' };
const unknown = { ...strict, skipDeployVerification: null };
const repo = 'acme/web';

const says = (policy?: DeployPolicy, given: Partial<ProjectPolicies> = {}): ProjectPolicies => ({
  deploy: policy ? { [repo]: policy } : {},
  relaxes: [],
  others: 'default',
  ...given,
});
const relaxing = says(lax, { relaxes: [repo] });

/** What projects said one after the other; undefined: a project is no longer served. */
function after(...lines: [project: string, said: ProjectPolicies | undefined][]): {
  facts: PolicyFacts;
  seq: number;
} {
  const projects = new Map<string, ProjectPolicies>();
  const policies = new Map<string, RepoPolicy>();
  for (const [index, [project, said]] of lines.entries()) {
    if (said === undefined) projects.delete(project);
    else {
      projects.set(project, said);
      const since = { at: minute(index + 1), seq: index + 1 };
      const next = afterApplied(policies.get(repo), repo, project, said, since);
      if (next) policies.set(repo, next);
    }
  }
  return { facts: { projects, policies }, seq: lines.length };
}

const skips = (...lines: Parameters<typeof after>) =>
  deployPolicyFor(after(...lines).facts, 'Acme/Web.git').skipDeployVerification;

describe('proof is required once a project has said so', () => {
  test.each<[string, Parameters<typeof after>, boolean | null]>([
    ['nobody names it', [['/a', says()]], true],
    ['one requires it', [['/a', says(strict)]], false],
    [
      'a lax one first',
      [
        ['/b', says(lax)],
        ['/a', says(strict)],
      ],
      false,
    ],
    [
      'a lax one later',
      [
        ['/a', says(strict)],
        ['/b', relaxing],
      ],
      false,
    ],
    [
      'the key is gone',
      [
        ['/a', says(strict)],
        ['/a', says(lax)],
      ],
      false,
    ],
    [
      'the entry is gone',
      [
        ['/a', says(strict)],
        ['/a', says()],
      ],
      false,
    ],
    [
      'the project is gone',
      [
        ['/a', says(strict)],
        ['/a', undefined],
      ],
      false,
    ],
    [
      'it cannot be read any more',
      [
        ['/a', says(strict)],
        ['/a', says(undefined, { others: 'unknown' })],
      ],
      false,
    ],
    [
      'its entry is not valid any more',
      [
        ['/a', says(strict)],
        ['/a', says(unknown)],
      ],
      false,
    ],
    [
      'its file sets it to true',
      [
        ['/a', says(strict)],
        ['/a', relaxing],
      ],
      true,
    ],
    [
      'its file was gone before',
      [
        ['/a', says(strict)],
        ['/a', undefined],
        ['/a', relaxing],
      ],
      true,
    ],
    [
      'one of two relaxes',
      [
        ['/a', says(strict)],
        ['/b', says(strict)],
        ['/a', relaxing],
        ['/b', undefined],
      ],
      false,
    ],
    [
      'both relax',
      [
        ['/a', says(strict)],
        ['/b', says(strict)],
        ['/a', relaxing],
        ['/b', relaxing],
      ],
      true,
    ],
    [
      'required again',
      [
        ['/a', says(strict)],
        ['/a', relaxing],
        ['/a', says(strict)],
      ],
      false,
    ],
    ['the list cannot be read', [['/list', says(undefined, { others: 'unknown' })]], null],
    [
      'a project cannot be read, another names it',
      [
        ['/list', says(undefined, { others: 'unknown' })],
        ['/b', relaxing],
      ],
      true,
    ],
    ['its entry was never valid', [['/a', says(unknown)]], null],
    [
      'one entry is not valid, another skips',
      [
        ['/a', says(unknown)],
        ['/b', relaxing],
      ],
      null,
    ],
  ])('%s', (_, lines, expected) => {
    expect(skips(...lines)).toBe(expected);
  });
});

test('the other values follow the file, also where the key itself is gone', () => {
  const { facts } = after(['/a', says(strict)], ['/a', says({ ...lax, productionEnvironment: 'live' })]);
  expect(deployPolicyFor(facts, repo)).toEqual(live);
  const gone = after(['/a', says(live)], ['/a', says()]);
  expect(deployPolicyFor(gone.facts, repo)).toEqual(live);
  const invalid = after(['/a', says(live)], ['/a', says(unknown)]);
  expect(deployPolicyFor(invalid.facts, repo)).toEqual(live);
});

test('of two that require it, the first names the environment, and both have to accept descendants', () => {
  const exact = { ...strict, acceptDescendants: false };
  const { facts } = after(['/a', says(live)], ['/b', says(exact)]);
  expect(deployPolicyFor(facts, repo)).toEqual({ ...live, acceptDescendants: false });
});

test('a relaxation holds for later merges only', () => {
  const { facts } = after(['/a', says(live)], ['/b', says()], ['/a', relaxing]);
  const merge = (seq: number, at: string) => deployPolicyFor(facts, repo, { seq, at });
  expect(merge(2, minute(9))).toEqual(live);
  expect(merge(4, minute(9)).skipDeployVerification).toBe(true);
  // It happened before, and became known afterwards.
  expect(merge(4, minute(2))).toEqual(live);
  expect(deployPolicyFor(facts, repo).skipDeployVerification).toBe(true);
});

test('a person relaxes what no served project states right now', () => {
  const { facts, seq } = after(['/a', says(strict)], ['/b', says(strict)], ['/a', undefined]);
  const known = facts.policies.get(repo) as RepoPolicy;
  const relaxed = afterRelaxed(known, facts.projects, 'kim', { at: 't9', seq: seq + 1 });
  expect(relaxed.requiredBy.map(({ project }) => project)).toEqual(['/b']);
  const alone = after(['/a', says(strict)], ['/a', undefined]);
  const left = alone.facts.policies.get(repo) as RepoPolicy;
  expect(afterRelaxed(left, alone.facts.projects, 'kim', { at: 't9', seq: 9 })).toMatchObject({
    requiredBy: [],
    relaxed: { by: 'kim', policy: strict, seq: 9 },
  });
});

test('a ticket without a pull request has the policy of the project with its prefix', () => {
  const tickets = { prefix: 'ENG', repo };
  const { facts } = after(['/a', says(strict, { tickets })], ['/b', says()]);
  const skipsFor = (ticket: string, anyRepo: boolean) =>
    deployPolicyForTicket(facts, ticket, { anyRepo }).skipDeployVerification;
  expect(skipsFor('eng-7', false)).toBe(false);
  expect(skipsFor('OPS-7', true)).toBe(true);
});

test.each([
  ['no repository of its own', {}],
  ['a repository of its own that requires nothing', { repo: 'acme/tickets' }],
])('a ticket may be of any repository of a project with %s', (_, own) => {
  const { facts } = after(['/a', says(strict, { tickets: { prefix: 'ENG', ...own } })]);
  const skipsFor = (anyRepo: boolean) =>
    deployPolicyForTicket(facts, 'ENG-7', { anyRepo }).skipDeployVerification;
  expect(skipsFor(true)).toBe(false);
  // The ticket is in another repository, as its worker or its pull request shows.
  expect(skipsFor(false)).toBe(true);
});

test('what holds, since when and by what', () => {
  const { facts } = after(['/a', says(live)], ['/a', says()]);
  expect(policyViews(facts)).toEqual([
    {
      repo,
      verification: 'required',
      environment: 'live',
      timeoutSec: 1800,
      acceptDescendants: true,
      since: minute(1),
      why: 'The file of /a required it. That file no longer says so, but has not set skipDeployVerification to true either.',
      requiredBy: [{ project: '/a', at: minute(1), seq: 1, now: false }],
      relaxed: null,
    },
  ]);
  const broken = after(['/list', says(undefined, { others: 'unknown' })]);
  expect(policyViews(broken.facts, 'Acme/Web')).toMatchObject([
    { repo, verification: 'unknown', why: expect.stringContaining('/list cannot be read') },
  ]);
});

test('a project that is no longer served, and still requires something, is a problem', () => {
  const { facts } = after(['/a', says(strict)], ['/b', says(lax)], ['/a', undefined]);
  expect(policyProblems(facts, '/config.json')).toMatchObject([
    { severity: 'error', file: '/config.json', message: expect.stringContaining('/a is no longer served') },
  ]);
  const moved = after(['/a', says(strict)], ['/b', says(strict)], ['/a', undefined]);
  expect(policyProblems(moved.facts, '/config.json')).toEqual([]);
});
