// Which repository a checkout is of, and what its project would be called, as far as git can tell.
import { kinds } from '../config/field.ts';
import { remoteParts } from '../orchestrate/setup-variables.ts';

/** Whose remote is looked at first. */
const preferred = ['origin', 'upstream'];

/** `owner/name`, from the output of `git config --get-regexp ^remote\..*\.url$`. */
export function repositoryInRemotes(output: string): string | undefined {
  const remotes = output.split('\n').flatMap((line) => {
    const [, name, url] = /^remote\.(.+)\.url (.+)$/.exec(line) ?? [];
    const parts = remoteParts(url);
    const slug = parts && `${parts.owner}/${parts.name}`;
    return name !== undefined && kinds.repo.schema.safeParse(slug).success ? [{ name, slug }] : [];
  });
  return remotes.toSorted((one, other) => place(one.name) - place(other.name))[0]?.slug;
}

function place(remote: string): number {
  const index = preferred.indexOf(remote);
  return index === -1 ? preferred.length : index;
}

/** A key for the project: the repository's name, as far as a key may be written so. */
export function projectKeyFor(repository: string): string {
  const name = repository.split('/').at(-1) ?? '';
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return plain === '' ? 'project' : plain.slice(0, 100);
}
