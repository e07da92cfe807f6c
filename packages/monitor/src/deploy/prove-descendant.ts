// Whether a deployed commit contains a merge. Git in the worker's worktree is asked first, if it has both commits and their
// whole history: it costs nothing, and commits mean the same everywhere. Otherwise the code host compares them. The answer
// never changes, so it is logged once.

import { isAbsolute } from 'node:path';
import {
  type CodehostProblem,
  codehostProblemWords,
  type Effect,
  type Environment,
  type EventDraft,
  repoNameIn,
} from '@svc/core';
import { createGitRunner } from '@svc/lib/git';
import type { CommandEnd, RunCommand } from '@svc/lib/process';
import type { Gh } from '../codehost/gh.ts';
import type { Attempt, Outcome } from '../outbox/attempt.ts';

const GIT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

type ProveDescendant = Extract<Effect, { kind: 'prove-descendant' }>;
type Pair = Pick<ProveDescendant, 'mergeSha' | 'sha'>;
type Comparison = { contains: boolean } | Extract<Outcome, { failed: string }>;

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

  /** Undefined when the local repository cannot answer. */
  async function askGit(folder: string, { mergeSha, sha }: Pair, signal: AbortSignal) {
    const git = (...args: string[]): Promise<CommandEnd> =>
      runGit(folder, args, {
        environment: { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_NO_REPLACE_OBJECTS: '1' },
        timeoutMs: GIT_TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal,
      });
    const asked = await git('merge-base', '--is-ancestor', '--end-of-options', mergeSha, sha);
    if (asked.ended !== 'exit' || asked.exitCode > 1) return undefined;
    if (asked.exitCode === 0) return { contains: true };
    // A shallow clone does not know that one commit is before another.
    const shallow = await git('rev-parse', '--is-shallow-repository');
    return shallow.ended === 'exit' && shallow.stdout.trim() === 'false' ? { contains: false } : undefined;
  }

  async function askCodehost(repo: string, { mergeSha, sha }: Pair): Promise<Comparison> {
    const answer = await gh.request({ path: `repos/${repo}/compare/${mergeSha}...${sha}?per_page=1` });
    if (!answer.ok) return later(answer.problem, now());
    switch (statusIn(answer.value.json)) {
      case 'ahead':
      case 'identical':
        return { contains: true };
      case 'behind':
      case 'diverged':
        return { contains: false };
      default:
        return { failed: 'the code host returned an unknown comparison status' };
    }
  }

  return async ({ repo, mergeSha, sha, worktreePath }, { signal }) => {
    if (repoNameIn(repo) === undefined || !commit.test(mergeSha) || !commit.test(sha))
      return { failed: 'a repository and two full commit ids are needed', permanent: true };
    const pair = { mergeSha, sha };
    const isLocal = worktreePath !== null && isAbsolute(worktreePath);
    const local = isLocal ? await askGit(worktreePath, pair, signal) : undefined;
    const compared = local ?? (await askCodehost(repo, pair));
    if ('failed' in compared) return compared;
    const by = local === undefined ? 'codehost' : 'git';
    await append({
      event: 'orchestrator.deploy.descendant_checked',
      source: 'monitor',
      via: 'local',
      deliveryId: `descendant:${repo.toLowerCase()}:${mergeSha}..${sha}`,
      scope: { repo, mergeSha, sha },
      detail: { contains: compared.contains, by },
    });
    return { done: `${compared.contains ? 'contains it' : 'does not contain it'}, according to ${by}` };
  };
}

/** A commit that the code host does not know may be one that it does not know yet. */
function later(problem: CodehostProblem, now: number): Extract<Outcome, { failed: string }> {
  const { why } = codehostProblemWords(problem);
  return 'until' in problem
    ? { failed: why, retryAfterMs: Math.max(0, problem.until - now) }
    : { failed: why };
}

function statusIn(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'status' in json ? json.status : undefined;
}
