// Under which key the board holds what belongs to a repository.
import { repoKey } from '@svc/contract/repo-name';

/** `pullRequestKey('Acme/Web', 42)` is `acme/web#42`; the same for deployments and their ids. */
export function pullRequestKey(repo: string, number: number): string {
  return `${repoKey(repo)}#${number}`;
}

export function commitKey(repo: string, sha: string): string {
  return `${repoKey(repo)}@${sha}`;
}

export function branchKey(repo: string, branch: string): string {
  return `${repoKey(repo)}:${branch}`;
}
