// The six variables of worktree setup and hooks. They are inserted into the commands (fill-command.ts), and are also in
// the environment of every step.

export type SetupVariables = {
  WORKTREE_PATH: string;
  BRANCH_NAME: string;
  /** The same as the branch name. */
  TICKET_ID: string;
  REPO_NAME: string;
  DIRECTORY: string;
  PROFILE: string;
};

export type RepositoryFacts = {
  /** `svc.repository` */
  repository: { org?: string | undefined; name?: string | undefined };
  /** `svc.thoughts` */
  thoughts: {
    user?: string | null | undefined;
    directory?: string | undefined;
    profile?: string | undefined;
  };
  projectKey?: string | undefined;
  /** The URL of `origin`. */
  remoteUrl?: string | undefined;
  /** The name of the folder of the main worktree. */
  folderName: string;
};

export function setupVariables(worktreePath: string, branch: string, facts: RepositoryFacts): SetupVariables {
  const repository = repositoryName(facts);
  return {
    WORKTREE_PATH: worktreePath,
    BRANCH_NAME: branch,
    TICKET_ID: branch,
    REPO_NAME: repository,
    DIRECTORY: contextDirectory(facts),
    PROFILE: contextProfile(facts).profile,
  };
}

/** As configured, else the name of the repository. */
export function contextDirectory(facts: RepositoryFacts): string {
  return facts.thoughts.directory ?? repositoryName(facts);
}

/** As configured, else the name in the URL of `origin`, else the name of its folder. */
export function repositoryName(facts: RepositoryFacts): string {
  return facts.repository.name ?? remoteParts(facts.remoteUrl)?.name ?? facts.folderName;
}

/**
 * The context profile and its source. Without `svc.thoughts.profile` it is detected: the configured organization of the
 * repository, else the owner in the URL of `origin`, else the project key, else `default`.
 */
export function contextProfile(facts: RepositoryFacts): { profile: string; from: string } {
  if (facts.thoughts.profile !== undefined)
    return { profile: facts.thoughts.profile, from: 'svc.thoughts.profile' };
  if (facts.repository.org !== undefined)
    return { profile: facts.repository.org, from: 'svc.repository.org' };
  const owner = remoteParts(facts.remoteUrl)?.owner;
  if (owner !== undefined) return { profile: owner, from: 'the owner of origin' };
  if (facts.projectKey !== undefined) return { profile: facts.projectKey, from: 'svc.projectKey' };
  return { profile: 'default', from: 'the default' };
}

/** `https://host/owner/name.git`, `ssh://git@host/owner/name`, `git@host:owner/name.git`. */
const remoteAddress =
  /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]+\/|[^/:]+:(?!\/\/))(?:.*\/)?([A-Za-z0-9][\w.-]{0,99})\/([\w.-]{1,100}?)(?:\.git)?\/?$/i;

/** Owner and name of a repository, from the URL of a remote. */
export function remoteParts(url: string | undefined): { owner: string; name: string } | undefined {
  const [, owner, name] = remoteAddress.exec(url?.slice(0, 500) ?? '') ?? [];
  return owner === undefined || name === undefined || /^\.+$/.test(name) ? undefined : { owner, name };
}
