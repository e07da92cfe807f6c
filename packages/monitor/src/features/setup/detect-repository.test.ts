import { expect, test } from 'vitest';
import { projectKeyFor, repositoryInRemotes } from './detect.ts';

test.each([
  ['remote.origin.url git@host.example:acme/web.git\n', 'acme/web'],
  ['remote.origin.url https://host.example/acme/web\n', 'acme/web'],
  ['remote.origin.url ssh://git@host.example:2222/acme/web.git\n', 'acme/web'],
  ['remote.fork.url git@h:kim/web.git\nremote.origin.url git@h:acme/web.git\n', 'acme/web'],
  ['remote.fork.url git@h:kim/web.git\nremote.upstream.url git@h:acme/web.git\n', 'acme/web'],
  ['remote.fork.url git@h:kim/web.git\n', 'kim/web'],
  ['remote.my.fork.url git@h:kim/web.git\n', 'kim/web'],
  ['remote.origin.url /srv/git/web.git\n', undefined],
  ['remote.origin.url git@h:a_b/web.git\n', undefined],
  ['', undefined],
])('%j is %s', (output, repository) => {
  expect(repositoryInRemotes(output)).toBe(repository);
});

test.each([
  ['acme/web', 'web'],
  ['acme/Web.App', 'web.app'],
  ['acme/.github', 'github'],
  ['acme/___', 'project'],
])('the key for %s is %s', (repository, key) => {
  expect(projectKeyFor(repository)).toBe(key);
});
