// Proves that a deployed commit contains a merge and its change. Git in the worker's worktree is asked first, if it has both
// commits and their whole history: it costs nothing, and commits mean the same everywhere. Otherwise the code host
// compares them. The answer never changes; the board asks once for each pair of commits.
import { isAbsolute } from 'node:path';
import { repoNameIn } from '@svc/contract/repo-name';
import { createGitRunner } from '@svc/lib/git';
import type { RunCommand } from '@svc/lib/process';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { Attempt, Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import type { Gh } from '../../codehost/gh.ts';
import { type CodehostProblem, codehostProblemWords } from '../../codehost/problem.ts';
import { askCodehost } from './codehost-containment.ts';
import { askGit, type Containment } from './containment.ts';

const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

type ProveDescendant = Extract<Effect, { kind: 'prove-descendant' }>;

/** The outbox's handler: `createDescendantProof({ run: runCommand, environment, gh, append, now })`. */
export function createDescendantProof(options: {
  run: RunCommand;
  environment: Environment;
  gh: Pick<Gh, 'request'>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => number;
}): (effect: ProveDescendant, attempt: Pick<Attempt, 'signal'>) => Promise<Outcome> {
  const { gh, append, now } = options;
  const { PATH, HOME } = options.environment;
  // Git needs nothing else, and it must not fetch, ask or write.
  const runGit = createGitRunner(options.run, {
    ...(PATH !== undefined && { PATH }),
    ...(HOME !== undefined && { HOME }),
  });

  return async ({ key, repo, mergeSha, sha, worktreePath }, { signal }) => {
    if (repoNameIn(repo) === undefined || !commit.test(mergeSha) || !commit.test(sha))
      return { failed: 'a repository and two full commit ids are needed', permanent: true };
    const pair = { mergeSha, sha };
    const isLocal = worktreePath !== null && isAbsolute(worktreePath);
    const local = isLocal ? await askGit(runGit, worktreePath, pair, signal) : undefined;
    const asked =
      local === undefined ? await askCodehost(gh, repo, pair) : { ok: true as const, value: local };
    if (!asked.ok) return 'unknown' in asked ? { failed: asked.unknown } : later(asked.problem, now());
    const compared = asked.value;
    const by = local === undefined ? 'codehost' : 'git';
    await append({
      event: 'orchestrator.deploy.descendant_checked',
      source: 'monitor',
      via: 'local',
      deliveryId: `descendant:${key}`,
      scope: { repo, mergeSha, sha },
      detail: { ...compared, by },
    });
    return { done: `${wordsOf(compared)}, according to ${by}` };
  };
}

/** A commit that the code host does not know may be one that it does not know yet. */
function later(problem: CodehostProblem, now: number): Extract<Outcome, { failed: string }> {
  const { why } = codehostProblemWords(problem);
  return 'until' in problem
    ? { failed: why, retryAfterMs: Math.max(0, problem.until - now) }
    : { failed: why };
}

function wordsOf(compared: Containment): string {
  if (compared.contains) return 'contains it';
  return compared.reverted ? 'contains it, but its change was reverted' : 'does not contain it';
}
