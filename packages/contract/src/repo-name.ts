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

/** The same for every spelling of one repository: the code host ignores letter case and the ending of a clone address. */
export function repoKey(repo: string): string {
  const name = repo.toLowerCase();
  return name.endsWith('.git') ? name.slice(0, -'.git'.length) : name;
}

/** In place of the name of a fork that was deleted; no repository has such a name. */
export const DELETED_FORK = '/(deleted)';

// A project of the code host, which belongs to an owner, not to a repository.

export type GithubProject = { owner: string; number: number };

const projectForms = [
  /^([A-Za-z0-9][A-Za-z0-9-]{0,98})\/(\d{1,9})$/,
  /^https?:\/\/[^/\s]+\/(?:orgs|users)\/([A-Za-z0-9][A-Za-z0-9-]{0,98})\/projects\/(\d{1,9})(?:[/?#]\S*)?$/,
];

/** `acme/3`, or the address of a project. */
export function githubProjectIn(text: string): GithubProject | undefined {
  for (const form of projectForms) {
    const [, owner, number] = form.exec(text) ?? [];
    if (owner !== undefined) return { owner, number: Number(number) };
  }
  return undefined;
}
