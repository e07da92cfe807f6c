// What the deploy policy of each repository is, since when and by what; and what is wrong with the projects it comes from.
import { repoKey } from '@svc/contract/repo-name';
import type { ConfigProblem } from '../../kernel/config/problems.ts';
import { deployPolicyFor, type PolicyFacts, requiresNow, unreadable } from './policy.ts';
import type { PolicyView } from './policy-api.ts';

/** For every repository that a project names or has required proof for; or for the given one, whatever is known. */
export function policyViews(facts: PolicyFacts, repo?: string): PolicyView[] {
  const { projects, policies } = facts;
  const named = [...projects.values()].flatMap(({ deploy }) => Object.keys(deploy));
  const all = repo === undefined ? [...new Set([...policies.keys(), ...named])].toSorted() : [repoKey(repo)];
  return all.map((name) => policyView(facts, name));
}

function policyView(facts: PolicyFacts, repo: string): PolicyView {
  const { projects, policies } = facts;
  const { skipDeployVerification: skip, ...policy } = deployPolicyFor(facts, repo);
  const { requiredBy = [], relaxed = null } = policies.get(repo) ?? {};
  const [first] = requiredBy;
  return {
    repo,
    verification: skip === null ? 'unknown' : skip ? 'skipped' : 'required',
    environment: policy.productionEnvironment,
    timeoutSec: policy.timeoutSec,
    acceptDescendants: policy.acceptDescendants,
    since: skip === false ? (first?.at ?? null) : (relaxed?.at ?? null),
    why: reasonOf(facts, repo),
    requiredBy: requiredBy.map(({ project, at, seq }) => ({
      project,
      at,
      seq,
      now: requiresNow(projects.get(project), repo),
    })),
    relaxed: relaxed && { by: relaxed.by, at: relaxed.at, seq: relaxed.seq },
  };
}

function reasonOf({ projects, policies }: PolicyFacts, repo: string): string {
  const { requiredBy = [], relaxed = null } = policies.get(repo) ?? {};
  const now = requiredBy.find(({ project }) => requiresNow(projects.get(project), repo));
  if (now !== undefined) return `The file of ${now.project} requires it.`;
  const [first] = requiredBy;
  if (first !== undefined)
    return `The file of ${first.project} required it. That file no longer says so, but has not set skipDeployVerification to true either.`;
  const stated = [...projects].filter(([, { deploy }]) => deploy[repo] !== undefined);
  const uncertain = stated.find(([, { deploy }]) => deploy[repo]?.skipDeployVerification === null);
  if (uncertain) return `The entry in the file of ${uncertain[0]} is not valid.`;
  const [named] = stated;
  if (named) return `The file of ${named[0]} does not require it.`;
  const broken = unreadable(projects);
  if (broken.length > 0)
    return `No readable project names it, and the configuration in ${broken.join(' and ')} cannot be read.`;
  return relaxed ? `It was relaxed by ${relaxed.by}.` : 'No project names it.';
}

/**
 * A project that requires proof for a repository is not served any more, and no served one states the same: what it
 * required still holds.
 */
export function policyProblems({ projects, policies }: PolicyFacts, file: string): ConfigProblem[] {
  const isStated = (repo: string): boolean =>
    [...projects.values()].some((project) => requiresNow(project, repo));
  const left = [...policies.values()].flatMap(({ repo, requiredBy }) =>
    requiredBy.flatMap(({ project }) => (projects.has(project) || isStated(repo) ? [] : [{ repo, project }])),
  );
  return left.map(({ repo, project }) => ({
    severity: 'error',
    code: 'incomplete',
    file,
    key: 'svc.projects',
    message: `${project} is no longer served, but ${repo} still requires a verified deployment, as its file said.`,
    remedy: `Add the folder to svc.projects again (if it is on a disk, mount it), or run: svc deploy policy relax ${repo}`,
  }));
}
