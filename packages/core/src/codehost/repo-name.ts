// `owner/name` of a repository. It becomes part of an address, so it is checked. The code host ignores letter case, and
// so do we.

const parts = /^([A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}))\/([A-Za-z0-9._-]{1,100})$/;

export type RepoName = { owner: string; name: string };

/** `repoNameIn('acme/web')` is `{ owner: 'acme', name: 'web' }`; undefined for anything else. */
export function repoNameIn(text: string): RepoName | undefined {
  const [, owner, name] = parts.exec(text) ?? [];
  if (owner === undefined || name === undefined || name === '.' || name === '..') return undefined;
  return { owner, name };
}

/** The same for every spelling of one repository. */
export function repoKey(repo: string): string {
  return repo.toLowerCase();
}
