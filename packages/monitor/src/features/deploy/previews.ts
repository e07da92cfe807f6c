// Deployments of a pull request's head commit to an environment other than production.
import type { Board } from '../../kernel/board/board.ts';
import { commitKey } from '../../kernel/board/keys.ts';
import { linked } from '../../kernel/board/links.ts';
import { workersOfPullRequest } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { withPreviews } from '../pull-requests/reduce-pull-request.ts';
import type { Deployment } from './deployment.ts';
import { isSameEnvironment } from './policy.ts';

export function withPreviewOf(board: Board, pullRequest: PullRequest, deployment: Deployment): PullRequest {
  const { environment, environmentUrl, states } = deployment;
  if (environmentUrl === null || !/^https?:\/\//.test(environmentUrl)) return pullRequest;
  if (isProduction(board, pullRequest, deployment)) return pullRequest;
  const at = states.at(-1)?.at ?? null;
  return withPreviews(pullRequest, {
    source: `environment:${environment}`,
    links: [environmentUrl],
    at,
    gone: false,
  });
}

/** For a new head commit: its deployments may have been reported before it. */
export function withKnownPreviews(board: Board, pullRequest: PullRequest): PullRequest {
  const { repo, headSha } = pullRequest;
  if (headSha === null) return pullRequest;
  return linked(board.links.deploymentsByCommit, commitKey(repo, headSha)).reduce((next, key) => {
    const deployment = board.deployments.get(key);
    return deployment === undefined ? next : withPreviewOf(board, next, deployment);
  }, pullRequest);
}

function isProduction(board: Board, pullRequest: PullRequest, deployment: Deployment): boolean {
  const { environment, production } = deployment;
  if (production === true || environment.toLowerCase() === 'production') return true;
  return workersOfPullRequest(board, pullRequest).some(({ policy }) =>
    isSameEnvironment(policy.productionEnvironment, environment),
  );
}
