import { describe, expect, test } from 'vitest';
import { type MergeFacts, mergeFindings } from './merge-findings.ts';

const settings = {
  default_branch: 'main',
  allow_squash_merge: true,
  allow_auto_merge: true,
  delete_branch_on_merge: true,
};
const review = (count: number, resolution = true) => ({
  type: 'pull_request',
  parameters: { required_approving_review_count: count, required_review_thread_resolution: resolution },
});
const checks = (...contexts: string[]) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: contexts.map((context) => ({ context })) },
});
const rules = [{ type: 'deletion' }, { type: 'non_fast_forward' }, review(0), checks('build')];
const about = (given: Partial<MergeFacts> = {}) =>
  mergeFindings({ repo: 'acme/web', settings, rules, ran: [['build'], ['build', 'docs']], ...given });

describe('all as recommended', () => {
  test.each([
    [0, 'autonomous mode: no approving review is required, resolved conversations and checks are'],
    [1, 'human-in-the-loop mode: 1 approving review is required'],
    [2, 'human-in-the-loop mode: 2 approving reviews are required'],
  ])('%i required reviews', (count, words) => {
    const [deletion, rewrite, , build] = rules;
    const found = about({
      rules: [deletion, rewrite, review(count), build].filter((rule) => rule !== undefined),
    });
    expect(found).toEqual([
      {
        part: 'merge-settings',
        grade: 'ok',
        what: `acme/web: ${words}`,
        since: null,
        evidence: null,
        remedy: null,
        fixable: false,
      },
    ]);
  });
});

test.each<[string, MergeFacts['settings'], string, string]>([
  [
    'squash merge',
    { allow_squash_merge: false },
    'squash merge is off',
    'gh repo edit acme/web --enable-squash-merge',
  ],
  [
    'auto-merge',
    { allow_auto_merge: false },
    'auto-merge is off',
    'gh repo edit acme/web --enable-auto-merge',
  ],
  ['kept branches', { delete_branch_on_merge: false }, 'branches are kept', '--delete-branch-on-merge'],
  [
    'another default branch',
    { default_branch: 'trunk' },
    'the default branch is trunk',
    '--default-branch main',
  ],
  ['no pull requests', { has_pull_requests: false }, 'pull requests are off', 'Enable them'],
])('%s is a warning with its remedy', (_, other, found, remedy) => {
  expect(about({ settings: { ...settings, ...other } })).toEqual([
    {
      part: 'merge-settings',
      grade: 'warning',
      what: expect.stringContaining(found),
      remedy: expect.stringContaining(remedy),
      since: null,
      evidence: null,
      fixable: false,
    },
  ]);
});

test('a setting that the code host does not return is not reported as off', () => {
  expect(about({ settings: {} })).toMatchObject([{ grade: 'ok' }]);
});

test.each<[string, MergeFacts['rules'], string]>([
  [
    'no ruleset',
    [],
    'requires: no deletion, no force push, a pull request, resolved review conversations, status checks',
  ],
  ['deletion', rules.filter(({ type }) => type !== 'deletion'), 'requires: no deletion'],
  ['rewriting', rules.filter(({ type }) => type !== 'non_fast_forward'), 'requires: no force push'],
  [
    'conversations',
    [...rules.filter(({ type }) => type !== 'pull_request'), review(1, false)],
    'requires: resolved review conversations',
  ],
  [
    'no required check',
    [...rules.filter(({ type }) => type !== 'required_status_checks'), checks()],
    'requires: status checks',
  ],
])('a ruleset without %s is a warning', (_, given, words) => {
  expect(about({ rules: given })).toMatchObject([
    {
      grade: 'warning',
      what: expect.stringContaining(words),
      remedy: expect.stringContaining('rules/branches/main'),
    },
  ]);
});

test('a required check that does not run on every pull request is a warning', () => {
  expect(about({ ran: [['build'], ['docs']] })).toMatchObject([
    {
      grade: 'warning',
      what: 'acme/web: required checks that did not run on all of the newest 2 pull requests: build',
    },
  ]);
  expect(about({ ran: [] })).toMatchObject([{ grade: 'ok' }]);
});
