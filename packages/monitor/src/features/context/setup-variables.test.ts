import { expect, test } from 'vitest';
import { contextProfile, repositoryName, setupVariables } from './setup-variables.ts';

const bare = { repository: {}, thoughts: {}, folderName: 'checkout' };

test('the six variables; the ticket is the branch, the directory the repository', () => {
  expect(setupVariables('/wt/ABC-1', 'ABC-1', { ...bare, repository: { org: 'acme', name: 'web' } })).toEqual(
    {
      WORKTREE_PATH: '/wt/ABC-1',
      BRANCH_NAME: 'ABC-1',
      TICKET_ID: 'ABC-1',
      REPO_NAME: 'web',
      DIRECTORY: 'web',
      PROFILE: 'acme',
    },
  );
});

test('configured values win', () => {
  const facts = { ...bare, thoughts: { directory: 'docs', profile: 'work' }, remoteUrl: 'git@h:o/n.git' };
  expect(setupVariables('/w', 'b', facts)).toMatchObject({
    DIRECTORY: 'docs',
    PROFILE: 'work',
    REPO_NAME: 'n',
  });
});

test.each([
  ['https://host.example/acme/web.git', 'acme', 'web'],
  ['https://me:secret@host.example/acme/web', 'acme', 'web'],
  ['ssh://git@host.example:22/acme/web.git', 'acme', 'web'],
  ['git@host.example:acme/web.git', 'acme', 'web'],
  ['https://host.example/group/sub/web.git/', 'sub', 'web'],
])('%s', (remoteUrl, owner, name) => {
  expect(contextProfile({ ...bare, remoteUrl })).toEqual({ profile: owner, from: 'the owner of origin' });
  expect(repositoryName({ ...bare, remoteUrl })).toBe(name);
});

test.each([undefined, '/srv/git/web.git', 'web', '../web', 'https://host.example/web'])(
  'a URL without an owner (%s): the project key, then a default',
  (remoteUrl) => {
    expect(repositoryName({ ...bare, remoteUrl })).toBe('checkout');
    expect(contextProfile({ ...bare, remoteUrl, projectKey: 'demo' }).profile).toBe('demo');
    expect(contextProfile({ ...bare, remoteUrl }).profile).toBe('default');
  },
);
