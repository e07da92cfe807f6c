// Deployments on the board, with their links.
import { repoKey } from '@svc/contract/repo-name';
import type { Board, BoardLinks } from '../../kernel/board/board.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { type Index, relink } from '../../kernel/board/links.ts';
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import type { Applied } from '../../kernel/config/configuration.ts';
import type { Deployment } from './deployment.ts';
import type { RepoPolicy } from './policy.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** By `<repo in lower case>#<id>`. */
    deployments: Deployment;
    /** By folder: the deploy policies of the served projects. The file with the list of projects is one of them. */
    projects: Applied & { project: string };
    /** By `repoKey`: repositories that a project has ever required proof for. */
    policies: RepoPolicy;
  }

  interface BoardLinks {
    deploymentsByCommit: Index;
    /** The highest deployment ids of a repository, highest first. */
    newestDeployments: Map<string, number[]>;
  }
}

const MOST_DEPLOYMENTS = 5_000;
/** There are many, and the worker keeps what matters to it. */
const KEPT_DAYS = 7;

export const deploySlices = {
  deployments: {
    keyOf: ({ repo, id }) => pullRequestKey(repo, id),
    link: (links, deployment) => linkDeployment(links, undefined, deployment),
    clean: ({ deployments }, now) => dropSettled(deployments, now, MOST_DEPLOYMENTS, () => true, KEPT_DAYS),
  },
  projects: { keyOf: ({ project }) => project },
  policies: { keyOf: ({ repo }) => repo },
} as const satisfies Partial<Slices>;

export const noDeploymentLinks = () => ({ deploymentsByCommit: new Map(), newestDeployments: new Map() });

export function putDeployment({ deployments, links }: Board, deployment: Deployment): void {
  const key = pullRequestKey(deployment.repo, deployment.id);
  linkDeployment(links, deployments.get(key), deployment);
  deployments.set(key, deployment);
}

const NEWEST_KEPT = 50;

function linkDeployment(links: BoardLinks, before: Deployment | undefined, after: Deployment): void {
  if (before !== undefined) return;
  const { repo, sha, id } = after;
  relink(pullRequestKey(repo, id), undefined, [[links.deploymentsByCommit, commitKey(repo, sha)]]);
  const newest = links.newestDeployments.get(repoKey(repo)) ?? [];
  const index = newest.findIndex((other) => other < id);
  const inserted = newest.toSpliced(index === -1 ? newest.length : index, 0, id).slice(0, NEWEST_KEPT);
  links.newestDeployments.set(repoKey(repo), inserted);
}
