// Whether the code host enforces what a merge needs. Changes nothing: a missing setting is a warning with its remedy.
import { z } from 'zod';
import { type SetupFinding, setupFinding } from '../../kernel/check/finding.ts';

/** `GET repos/:owner/:repo`. The merge settings are only returned to callers with push access. */
export const RepositorySettings = z.looseObject({
  default_branch: z.string().optional(),
  has_pull_requests: z.boolean().optional(),
  allow_squash_merge: z.boolean().optional(),
  allow_auto_merge: z.boolean().optional(),
  delete_branch_on_merge: z.boolean().optional(),
});

/** `GET repos/:owner/:repo/rules/branches/main`: the active rules from all rulesets. */
export const BranchRules = z.array(
  z.looseObject({
    type: z.string(),
    parameters: z
      .looseObject({
        required_approving_review_count: z.int().optional(),
        required_review_thread_resolution: z.boolean().optional(),
        required_status_checks: z.array(z.looseObject({ context: z.string() })).optional(),
      })
      .optional(),
  }),
);

export type MergeFacts = {
  repo: string;
  settings: z.infer<typeof RepositorySettings>;
  rules: z.infer<typeof BranchRules>;
  /** For each of the newest closed pull requests to main: the names of the checks that ran. */
  ran: readonly (readonly string[])[];
};

const part = 'merge-settings';
export const PROTECTED_BRANCH = 'main';

export function mergeFindings(facts: MergeFacts): SetupFinding[] {
  const found = [...switches(facts), ...rulesOf(facts), ...requiredChecks(facts)];
  return found.length > 0 ? found : [setupFinding(part, 'ok', `${facts.repo}: ${modeOf(facts)}`)];
}

/** The contexts that must pass before a merge. */
export function requiredContexts(rules: MergeFacts['rules']): string[] {
  return rules
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap(({ parameters }) => parameters?.required_status_checks ?? [])
    .map(({ context }) => context);
}

/** A setting that the code host does not return is not reported as off. */
function switches({ repo, settings }: MergeFacts): SetupFinding[] {
  const { default_branch: branch } = settings;
  const off = [
    settings.has_pull_requests === false && (['pull requests are off', ''] as const),
    settings.allow_squash_merge === false && (['squash merge is off', ' --enable-squash-merge'] as const),
    settings.allow_auto_merge === false && (['auto-merge is off', ' --enable-auto-merge'] as const),
    settings.delete_branch_on_merge === false &&
      (['head branches are kept after a merge', ' --delete-branch-on-merge'] as const),
    branch !== undefined &&
      branch !== PROTECTED_BRANCH &&
      ([`the default branch is ${branch}`, ` --default-branch ${PROTECTED_BRANCH}`] as const),
  ].filter((one) => one !== false);
  if (off.length === 0) return [];
  const flags = off.map(([, flag]) => flag).join('');
  const remedy = flags === '' ? 'Enable them in the repository settings.' : `gh repo edit ${repo}${flags}`;
  return [setupFinding(part, 'warning', `${repo}: ${off.map(([words]) => words).join(', ')}`, { remedy })];
}

function rulesOf({ repo, rules }: MergeFacts): SetupFinding[] {
  const has = (type: string): boolean => rules.some((rule) => rule.type === type);
  const resolves = rules.some(({ parameters }) => parameters?.required_review_thread_resolution === true);
  const missing = [
    !has('deletion') && 'no deletion',
    !has('non_fast_forward') && 'no force push',
    !has('pull_request') && 'a pull request',
    !resolves && 'resolved review conversations',
    requiredContexts(rules).length === 0 && 'status checks',
  ].filter((one) => one !== false);
  if (missing.length === 0) return [];
  return [
    setupFinding(
      part,
      'warning',
      `${repo}: no active ruleset on refs/heads/${PROTECTED_BRANCH} requires: ${missing.join(', ')}`,
      {
        remedy: `Add it in the settings of ${repo}, under Rules; list the active rules: gh api repos/${repo}/rules/branches/${PROTECTED_BRANCH}`,
      },
    ),
  ];
}

/** A required check that does not run on a pull request blocks its merge. */
function requiredChecks({ repo, rules, ran }: MergeFacts): SetupFinding[] {
  const partly = requiredContexts(rules).filter((context) => ran.some((names) => !names.includes(context)));
  if (partly.length === 0) return [];
  return [
    setupFinding(
      part,
      'warning',
      `${repo}: required checks that did not run on all of the newest ${ran.length} pull requests: ${partly.join(', ')}`,
      {
        remedy: `Run them on every pull request to ${PROTECTED_BRANCH}, or make them optional.`,
      },
    ),
  ];
}

function modeOf({ rules }: MergeFacts): string {
  const counts = rules.map(({ parameters }) => parameters?.required_approving_review_count ?? 0);
  const reviews = Math.max(0, ...counts);
  return reviews === 0
    ? 'autonomous mode: no approving review is required, resolved conversations and checks are'
    : `human-in-the-loop mode: ${reviews} approving ${reviews === 1 ? 'review is' : 'reviews are'} required`;
}
