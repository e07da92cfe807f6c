// A real git repository in which merges are siblings: none contains another unless it is made on top of it.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export type History = {
  folder: string;
  root: string;
  /** A commit on top of another; on the root when none is named. */
  commit: (message: string, parent?: string) => string;
};

export function createHistory(folder: string): History {
  mkdirSync(folder, { recursive: true });
  const person = { name: 'Kim', email: 'kim@example.com' };
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: person.email,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: person.email,
  };
  const git = (...words: string[]): string => {
    const { status, stdout, stderr, error } = spawnSync('git', ['-C', folder, ...words], {
      encoding: 'utf8',
      env,
    });
    if (status !== 0) throw new Error(`git ${words.join(' ')}: ${error?.message ?? stderr}`);
    return stdout.trim();
  };
  git('init', '--quiet');
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null');
  const root = git('commit-tree', tree, '-m', 'The beginning');
  return {
    folder,
    root,
    commit: (message, parent = root) => git('commit-tree', tree, '-p', parent, '-m', message),
  };
}
