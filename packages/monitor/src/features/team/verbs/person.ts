// Who runs the command line, for the members of a team: by the name in commits, else the account at the code host, else
// the user of the system.
import { runCommand } from '@svc/lib/process';
import { z } from 'zod';
import { requestedBy } from '../../../cli/kit/daemon.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { Failure } from '../../../kernel/failure.ts';
import { createGh } from '../../codehost/gh.ts';
import { createGit } from '../../worktrees/io/git.ts';
import { nameIn } from '../names.ts';

const TIMEOUT_MS = 10_000;
const Viewer = z.object({ viewer: z.object({ login: z.string() }) });

export async function personOf(terminal: Terminal): Promise<string> {
  for (const ask of [nameInGit, accountInGh, async () => requestedBy(terminal).by]) {
    const name = nameIn((await ask(terminal)) ?? '');
    if (name !== undefined) return name;
  }
  throw new Failure(
    'usage',
    'It is not known who you are: git has no user.name, gh is not logged in, and $USER is not set.',
    'Name yourself: --person <name>',
  );
}

async function nameInGit({
  environment,
  folder,
  interrupted: signal,
}: Terminal): Promise<string | undefined> {
  const git = createGit({ run: runCommand, environment, secretNames: [] });
  try {
    const asked = await git.ask(folder, ['config', '--get', 'user.name'], { timeoutMs: TIMEOUT_MS, signal });
    return asked.exitCode === 0 ? asked.stdout : undefined;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

async function accountInGh({ environment, now, interrupted: signal }: Terminal): Promise<string | undefined> {
  const gh = createGh({
    environment,
    run: runCommand,
    now: () => now().getTime(),
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const asked = await gh.graphql('query { viewer { login } }', {});
  return asked.ok ? Viewer.safeParse(asked.value.data).data?.viewer.login : undefined;
}
