// What can be detected without asking the user: the checkout, the repository and its deployments (by gh), the tracker's
// teams and states (by the token). Read only.
import { type RunCommand, runCommand } from '@svc/lib/process';
import { z } from 'zod';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import type { LoadedConfig } from '../../../kernel/config/load.ts';
import { secretsFile } from '../../../kernel/config/locate.ts';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { Failure } from '../../../kernel/failure.ts';
import { createGh } from '../../codehost/gh.ts';
import { codehostProblemWords } from '../../codehost/problem.ts';
import { resolveConfig } from '../../configure.ts';
import { type DeployEnvironment, environmentsIn, repositoryInRemotes } from '../../setup/detect.ts';
import type { TrackerTeam, WorkflowState } from '../../tracker/api-answer.ts';
import { createLinearClient, type LinearClient } from '../../tracker/io/linear/client.ts';
import { TrackerError } from '../../tracker/io/tracker.ts';
import { createGit } from '../../worktrees/io/git.ts';
import type { Visibility } from './deliveries.ts';

const RepositoryAnswer = z.object({ private: z.boolean() });

/** Short, because the user is waiting at the terminal. */
const TIMEOUT_MS = 10_000;

export type Checkout = { root: string | undefined; repository: string | undefined };

/** `warning`: it could not be checked, and is used as it is. */
type Checked = { ok: true; warning?: string } | { ok: false; problem: string };

type Teams =
  | { ok: true; teams: TrackerTeam[] }
  /** `refused`: the token is wrong. Otherwise it could not be checked. */
  | { ok: false; refused: boolean; problem: Failure };

export type Lookups = {
  checkout: (folder: string) => Promise<Checkout>;
  repository: (repository: string) => Promise<Checked>;
  visibility: (repository: string) => Promise<Visibility>;
  environments: (repository: string) => Promise<DeployEnvironment[]>;
  teams: (token: string) => Promise<Teams>;
  states: (token: string, team: string) => Promise<WorkflowState[]>;
};

export function createLookups(
  terminal: Terminal,
  { trackerApiUrl, run = runCommand }: { trackerApiUrl: string; run?: RunCommand },
): Lookups {
  const { environment, interrupted: signal } = terminal;
  const now = (): number => terminal.now().getTime();
  const git = createGit({ run, environment, secretNames: [] });
  const gh = createGh({ environment, run, now, signal, timeoutMs: TIMEOUT_MS });
  const tracker = (token: string): LinearClient =>
    createLinearClient({
      token,
      apiUrl: trackerApiUrl,
      fetch,
      clock: { now },
      timeoutMs: TIMEOUT_MS,
      signal,
    });

  return {
    async checkout(folder) {
      const options = { timeoutMs: TIMEOUT_MS, signal };
      try {
        const top = await git.ask(folder, ['rev-parse', '--show-toplevel'], options);
        const root = top.stdout.replace(/\n$/, '');
        if (top.exitCode !== 0 || root === '') return { root: undefined, repository: undefined };
        const remotes = await git.ask(folder, ['config', '--get-regexp', '^remote\\..*\\.url$'], options);
        return { root, repository: repositoryInRemotes(remotes.stdout) };
      } catch (error) {
        // Without git nothing is detected; the questions are still asked.
        if (error instanceof Failure) return { root: undefined, repository: undefined };
        throw error;
      }
    },
    async repository(repository) {
      const asked = await gh.request({ path: `repos/${repository}` });
      if (asked.ok) return { ok: true };
      const { kind } = asked.problem;
      if (kind === 'not-found' || kind === 'repo-gone')
        return {
          ok: false,
          problem: `Repository ${repository} does not exist, or gh has no access to it. Check the name, or the login: gh auth status`,
        };
      const { why, remedy } = codehostProblemWords(asked.problem);
      return { ok: true, warning: `Cannot check whether ${repository} exists: ${why}. ${remedy}` };
    },
    async visibility(repository) {
      const asked = await gh.request({ path: `repos/${repository}` });
      const { success, data } = RepositoryAnswer.safeParse(asked.ok ? asked.value.json : undefined);
      if (!success) return 'unknown';
      return data.private ? 'private' : 'public';
    },
    async environments(repository) {
      const asked = await gh.request({ path: `repos/${repository}/deployments?per_page=100` });
      return asked.ok ? environmentsIn(asked.value.json) : [];
    },
    async teams(token) {
      try {
        const teams = await tracker(token).listTeams();
        return { ok: true, teams: teams.toSorted((one, other) => (one.key < other.key ? -1 : 1)) };
      } catch (error) {
        if (!(error instanceof TrackerError)) throw error;
        const { kind } = error.problem;
        return { ok: false, refused: kind === 'unauthorised' || kind === 'forbidden', problem: error };
      }
    },
    async states(token, team) {
      try {
        return (await tracker(token).teamStates(team))?.states ?? [];
      } catch (error) {
        // The step that resolves the ids asks again, and reports the problem.
        if (error instanceof TrackerError) return [];
        throw error;
      }
    },
  };
}

/** The tracker's token for a project of that key: from its secrets file, otherwise from the file used instead. */
export async function findStoredToken(
  machine: Machine,
  { config, files }: Pick<LoadedConfig, 'config' | 'files'>,
  projectKey: string,
): Promise<string | undefined> {
  const path = secretsFile(machine, projectKey);
  if (files.secrets.ownFile === path) return config?.svc.tracker.apiToken;
  const read = await readJsonFile(path);
  // A new project key may already have a file from another checkout.
  if (read.state !== 'read') return files.secrets.fallback ? config?.svc.tracker.apiToken : undefined;
  const own = {
    path,
    layers: ['secrets'],
    reads: ['secrets'],
    data: read.data,
    lineOf: read.lineOf,
  } as const;
  return resolveConfig([own], {}).usable.svc.tracker.apiToken;
}
