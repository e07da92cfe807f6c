import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createGit } from '../../worktrees/io/git.ts';
import { testRepository } from '../../worktrees/testing/repository.ts';
import { gitVariables } from './git-variables.ts';

function world(settings: string) {
  const root = temporaryFolder();
  const { environment, folder, git } = testRepository(root);
  const own = join(root, 'gitconfig');
  writeFileSync(own, settings);
  const asking = createGit({
    run: runCommand,
    environment: { ...environment, GIT_CONFIG_GLOBAL: own },
    secretNames: [],
  });
  return { folder, git, variables: () => gitVariables(asking, folder) };
}

const settings = `[user]
  name = Kim Müller
  email = kim@home.example
[core]
  sshCommand = ssh -i ~/.ssh/work
`;

test('name, address and ssh program of the person', async () => {
  const { folder, git, variables } = world(settings);
  const kim = {
    GIT_AUTHOR_NAME: 'Kim Müller',
    GIT_COMMITTER_NAME: 'Kim Müller',
    GIT_AUTHOR_EMAIL: 'kim@home.example',
    GIT_COMMITTER_EMAIL: 'kim@home.example',
    GIT_SSH_COMMAND: 'ssh -i ~/.ssh/work',
  };
  expect(await variables()).toEqual(kim);
  git(folder, 'config', 'user.email', 'kim@work.example');
  expect(await variables()).toEqual({
    ...kim,
    GIT_AUTHOR_EMAIL: 'kim@work.example',
    GIT_COMMITTER_EMAIL: 'kim@work.example',
  });
});

test('nothing is made up, and no ssh program that only the repository names is run', async () => {
  const { folder, git, variables } = world('');
  git(folder, 'config', 'core.sshCommand', 'touch made');
  expect(await variables()).toEqual({ GIT_SSH_COMMAND: 'ssh' });
});
