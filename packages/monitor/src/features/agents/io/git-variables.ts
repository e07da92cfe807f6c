// For an agent whose commands see no git settings of the person: what its commits and its pushes by ssh need, as
// variables.
import { linesOf } from '@svc/lib/git';

type AskGit = { ask: (folder: string, args: readonly string[]) => Promise<{ stdout: string }> };

/** As git itself would decide in the folder. No ssh program that only the repository names: others can write there. */
export async function gitVariables(git: AskGit, folder: string): Promise<Record<string, string>> {
  const settings = async (key: string): Promise<string[]> =>
    linesOf((await git.ask(folder, ['config', '--show-scope', '--get-all', key])).stdout);
  const name = valueIn((await settings('user.name')).at(-1));
  const email = valueIn((await settings('user.email')).at(-1));
  const own = (await settings('core.sshCommand')).findLast((line) => /^(?:global|system)\t/.test(line));
  return {
    ...(name !== undefined && { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name }),
    ...(email !== undefined && { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email }),
    GIT_SSH_COMMAND: valueIn(own) ?? 'ssh',
  };
}

/** Behind the scope. */
function valueIn(line: string | undefined): string | undefined {
  return line?.slice(line.indexOf('\t') + 1);
}
