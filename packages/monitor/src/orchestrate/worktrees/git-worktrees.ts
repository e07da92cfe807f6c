// What git itself knows of the worktrees of a repository. The first one is the main one.
import type { Git } from './git.ts';

export type GitWorktree = {
  path: string;
  /** Null where nothing was committed yet. */
  head: string | null;
  /** The branch without `refs/heads/`; null when it is detached, also in the middle of a rebase. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, perhaps an empty text; null when it is not. */
  locked: string | null;
  /** Its folder is gone. */
  missing: boolean;
};

export async function gitWorktrees(git: Git, folder: string): Promise<GitWorktree[]> {
  return parseWorktrees(await git.run(folder, ['worktree', 'list', '--porcelain', '-z']));
}

/** Records of NUL-ended attributes, each record ended by one more NUL. */
function parseWorktrees(text: string): GitWorktree[] {
  return text
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const attributes = new Map(
        record.split('\0').map((attribute): [string, string] => {
          const at = attribute.indexOf(' ');
          return at < 0 ? [attribute, ''] : [attribute.slice(0, at), attribute.slice(at + 1)];
        }),
      );
      const head = attributes.get('HEAD');
      return {
        path: attributes.get('worktree') ?? '',
        head: head === undefined || /^0+$/.test(head) ? null : head,
        branch: attributes.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        bare: attributes.has('bare'),
        locked: attributes.get('locked') ?? null,
        missing: attributes.has('prunable'),
      };
    });
}
