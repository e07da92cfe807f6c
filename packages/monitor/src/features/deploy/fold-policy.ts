// Events of the deploy policy: the configuration of a project was applied, or a person relaxed a repository.
import { repoKey } from '@svc/contract/repo-name';
import { hashText } from '@svc/lib/hash-text';
import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import type { Applied } from '../../kernel/config/configuration.ts';
import { draft } from '../../kernel/log/event-line.ts';
import { pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import { putWorker } from '../workers/slice.ts';
import type { Worker } from '../workers/worker.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import { withFact } from './deploy-effects.ts';
import { withKnownDeployments, withKnownFacts } from './known-facts.ts';
import {
  afterApplied,
  afterRelaxed,
  deployPolicyForWork,
  isSamePolicy,
  type ProjectPolicies,
  type RepoPolicy,
  stricter,
} from './policy.ts';

/** The policy that holds for the worker's merge, or for a merge now. */
export function withPolicy(board: Board, worker: Worker): Worker {
  const merge = worker.merge ?? pullRequestOfWorker(board, worker)?.merge;
  const { repo, first, ticket } = worker;
  const policy = [repo, first.repo ?? repo]
    .map((one) => deployPolicyForWork(board, one, ticket, merge))
    .reduce(stricter);
  return isSamePolicy(policy, worker.policy) ? worker : { ...worker, policy };
}

/** Applies to every later merge, and to merges that waited for it. */
function foldConfig(context: FoldContext<'monitor.config.applied'>): void {
  const { board, line } = context;
  const { project, served, deploy, relaxes = [], others, tickets, dispatch } = line.detail;
  if (project === undefined || served === undefined || deploy === undefined || others === undefined) return;
  if (served) {
    const stated: Applied = {
      deploy: byKey(deploy),
      relaxes,
      others,
      ...(tickets && { tickets }),
      ...(dispatch && { dispatch }),
    };
    board.projects.set(project, { project, ...stated });
    for (const repo of Object.keys(stated.deploy)) {
      const known = board.policies.get(repo);
      const next = afterApplied(known, repo, project, stated, { at: line.ts, seq: line.seq });
      if (next === undefined || next === known) continue;
      board.policies.set(repo, next);
      if (isRelaxed(known, next)) reportRelaxed(context, repo, project);
    }
  } else board.projects.delete(project);
  applyToWorkers(context);
}

function byKey(deploy: ProjectPolicies['deploy']): ProjectPolicies['deploy'] {
  return Object.fromEntries(Object.entries(deploy).map(([repo, policy]) => [repoKey(repo), policy]));
}

function isRelaxed(before: RepoPolicy | undefined, after: RepoPolicy): boolean {
  return (before?.requiredBy.length ?? 0) > 0 && after.requiredBy.length === 0;
}

/** The line that a person's decision is. */
function foldRelaxed(context: FoldContext<'orchestrator.deploy.policy_relaxed'>): void {
  const { board, line } = context;
  const { repo } = line.scope;
  const known = repo === undefined ? undefined : board.policies.get(repoKey(repo));
  if (known === undefined) return;
  const by = short(line.detail.by) ?? line.actor?.login ?? 'unknown';
  // If it names a project, the line of that project's file applied it, and this one only reports it.
  const next =
    line.detail.project === undefined
      ? afterRelaxed(known, board.projects, by, { at: line.ts, seq: line.seq })
      : known;
  board.policies.set(known.repo, next);
  raiseOnce(context, known.repo, by);
  if (next !== known) applyToWorkers(context);
}

function reportRelaxed(context: FoldContext, repo: string, project: string): void {
  const relaxed = draft('orchestrator.deploy.policy_relaxed', { repo }, { by: project, project });
  ask(context, `relaxed:${repo}`, { kind: 'append', draft: relaxed });
}

const LONGEST_REASON = 64;

/** A reason has no punctuation but hyphens: a name with any, or a long one, gets a number of its own. */
function relaxedReason(repo: string): string {
  const plain = `policy-relaxed-${repo.replaceAll(/[^a-z0-9]+/g, '-')}`;
  if (/^[a-z0-9]+\/[a-z0-9]+$/.test(repo) && plain.length <= LONGEST_REASON) return plain;
  const ending = `-${hashText(repo).toString(36)}`;
  return `${plain.slice(0, LONGEST_REASON - ending.length)}${ending}`;
}

function raiseOnce(context: FoldContext, repo: string, by: string): void {
  const reason = relaxedReason(repo);
  const raised = draft(
    'comms.attention',
    { repo },
    {
      reason,
      message: `${repo} no longer requires a verified deployment: merges from now on are done at once (by ${by})`,
      remedy: `svc deploy policy ${repo}`,
      severity: 'medium',
      evidence: [context.line.seq],
    },
  );
  ask(context, reason, { kind: 'append', draft: raised });
}

function applyToWorkers(context: FoldContext): void {
  const { board } = context;
  for (const known of board.workers.values()) {
    const worker = withPolicy(board, known);
    if (worker === known) continue;
    const followed = withFact(context, worker, {
      kind: 'configured',
      seq: context.line.seq,
      at: context.line.ts,
    });
    const next = withKnownFacts(context, followed);
    putWorker(board, withOwnAttention(context, withKnownDeployments(context, next)));
  }
}

export const policyFolds: readonly Fold[] = [
  on(['monitor.config.applied'], foldConfig),
  on(['orchestrator.deploy.policy_relaxed'], foldRelaxed),
];
