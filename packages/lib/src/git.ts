// Runs git: no shell, limited in time and output, without prompts, and never redirected to another repository by an
// environment variable. The caller puts each foreign argument behind a `--`, or makes it a full ref.
//
// Others can write to the repository: an agent to its worktree and to the clone. So git runs no program that the repository
// names (hooks, monitors, filters, drivers, commands of remotes, helpers), whatever file the setting is in, and asks no
// remote. What the person's own settings name (of the account or the system) is used for filters and remotes, if the caller
// allows them. Submodules have settings of their own: git does not enter them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandEnd, RunCommand } from './process.ts';

export type GitOptions = {
  timeoutMs?: number | undefined;
  maxBytes?: number | undefined;
  environment?: Readonly<Record<string, string>>;
  input?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The folder is the root of a worktree: a setting cannot name another one. */
  isWorktree?: boolean;
  /** The filters of the person's own settings may run, such as git-lfs. */
  ownFilters?: boolean;
  /** A remote may be asked, also for what a partial clone lacks. */
  remote?: boolean;
};

export type RunGit = (folder: string, args: readonly string[], options?: GitOptions) => Promise<CommandEnd>;

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

export function createGitRunner(run: RunCommand, environment: Readonly<Record<string, string>>): RunGit {
  const silent = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat' };
  const editors = { GIT_EDITOR: 'false', GIT_SEQUENCE_EDITOR: 'false' };
  const own = { ...withoutRepository(environment), ...silent, ...editors };

  async function listSettings(folder: string, options: GitOptions): Promise<ListedSetting[] | CommandEnd> {
    const listed = await run({
      file: 'git',
      args: ['-C', folder, 'config', '--list', '--show-scope', '-z'],
      environment: own,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal: options.signal,
    });
    if (listed.ended !== 'exit' || listed.exitCode !== 0) return listed;
    return settingsIn(listed.stdout);
  }

  return (folder, args, options = {}) => {
    const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, input, signal, remote = false } = options;
    refuseSubmodules(args);
    return askWhole(async () => {
      const settings = !remote && namesNoProgram(args) ? [] : await listSettings(folder, options);
      if (!Array.isArray(settings)) return settings;
      const programs = programOverrides(settings, options.ownFilters === true);
      return run({
        file: 'git',
        args: ['-C', folder, ...args],
        environment: {
          ...own,
          ...options.environment,
          ...(options.isWorktree === true && { GIT_WORK_TREE: folder }),
          GIT_ALLOW_PROTOCOL: remote ? protocolsFor(settings) : 'none',
          ...(!remote && { GIT_NO_LAZY_FETCH: '1' }),
          ...settingVariables([...fixedSettings, ...programs]),
        },
        timeoutMs,
        maxBytes,
        ...(input !== undefined && { input }),
        signal,
      });
    });
  };
}

/** Without `-c name=value` before it. */
function commandIn(args: readonly string[]): readonly string[] {
  return args[0] === '-c' ? commandIn(args.slice(2)) : args;
}

/** Git would start itself in each submodule, whose settings name other programs. */
function refuseSubmodules(args: readonly string[]): void {
  const [command = ''] = commandIn(args);
  const isSafe = args.some((arg) => /^--ignore-submodules=(?:dirty|all)$/.test(arg));
  if ((command === 'status' || command === 'diff') && !isSafe)
    throw new Error(`git ${command} needs --ignore-submodules=dirty`);
  if (command === 'submodule') throw new Error('git submodule runs programs that the repository names');
}

/** They read no file of the worktree and ask no remote; their hooks and signatures are off in any case. */
const withoutPrograms: ReadonlySet<string> = new Set(
  'rev-parse for-each-ref merge-base rev-list symbolic-ref check-ref-format update-ref config'.split(' '),
);

function namesNoProgram(args: readonly string[]): boolean {
  const [command = '', next] = commandIn(args);
  return withoutPrograms.has(command) || (command === 'worktree' && next === 'list');
}

type Setting = readonly [key: string, value: string];

const fixedSettings: readonly Setting[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['status.submoduleSummary', 'false'],
  ['log.showSignature', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** For one command: they win over every file. */
function settingVariables(settings: readonly Setting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...(Object.fromEntries(pairs) as object) };
}

type ListedSetting = { isOwn: boolean; key: string; value: string };

/** Records of `--show-scope -z`: the scope, then the key and, behind a line break, the value. An included file has the scope of the file that includes it. */
function settingsIn(text: string): ListedSetting[] {
  const parts = text.split('\0');
  const settings: ListedSetting[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const setting = parts[at + 1] ?? '';
    const end = setting.indexOf('\n');
    const key = end < 0 ? setting : setting.slice(0, end);
    const isOwn = parts[at] === 'system' || parts[at] === 'global';
    settings.push({ isOwn, key, value: end < 0 ? 'true' : setting.slice(end + 1) });
  }
  return settings;
}

/** Git takes the first program that is named for the other end, so it cannot be overridden; these protocols start none. */
function protocolsFor(settings: readonly ListedSetting[]): string {
  const isNamed = settings.some(({ isOwn, key }) => !isOwn && /^remote\..+\.uploadpack$/s.test(key));
  return isNamed ? 'http:https' : 'file:http:https:ssh';
}

const filter = /^filter\..+\.(?:clean|smudge|process|required)$/s;
const credentialHelper = /^credential\.(?:.+\.)?helper$/s;

/** Settings that name a program, and the value that names none, or git's own. `false` is a program that fails: it must not look like a result. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/^filter\..+\.required$/s, 'false'],
  [filter, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^core\.askpass$/, ''],
  [/^core\.(?:alternaterefscommand|editor|pager)$/, 'false'],
  [/^diff\.external$|^diff\..+\.(?:command|textconv)$/s, 'false'],
  [/^merge\..+\.driver$/s, 'false'],
  [/^gpg\.(?:.+\.)?program$|^gpg\.ssh\.defaultkeycommand$/s, 'false'],
  [/^gc\.recentobjectshook$/, 'false'],
  [/^hook\..+\.command$/s, 'true'],
  // Git-lfs is a filter of the person that reads more settings of the repository.
  [/^lfs\.(?:.+\.)?standalonetransferagent$/s, ''],
  [/^lfs\.customtransfer\..+\.path$|^lfs\.extension\..+\.(?:clean|smudge)$/s, 'false'],
];

/** The person's own value instead of each program that the repository names; otherwise none. */
function programOverrides(settings: readonly ListedSetting[], ownFilters: boolean): Setting[] {
  const own = new Map(settings.filter(({ isOwn }) => isOwn).map(({ key, value }) => [key, value]));
  const named = new Map<string, string>();
  for (const { isOwn, key } of settings) {
    const isFilter = filter.test(key);
    if (isOwn && (ownFilters || !isFilter)) continue;
    const none = programs.find(([pattern]) => pattern.test(key))?.[1];
    if (none !== undefined) named.set(key, isFilter && !ownFilters ? none : (own.get(key) ?? none));
  }
  const helpers = settings.filter(({ key }) => credentialHelper.test(key));
  if (helpers.every(({ isOwn }) => isOwn)) return [...named];
  // An empty one drops those before it.
  const ownHelpers = helpers.filter(({ isOwn }) => isOwn).map(({ key, value }): Setting => [key, value]);
  return [...named, ['credential.helper', ''], ...ownHelpers];
}

/** `git rev-parse --local-env-vars`: they select the repository, index or settings. */
const local =
  /^GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|NAMESPACE|INTERNAL_SUPER_PREFIX|QUARANTINE_PATH)$/;

export function withoutRepository(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !local.test(name)));
}

// Git reads the data of all worktrees for nearly everything. It fails if another git is just writing such data. That
// passes quickly, so the command is retried.

const TIMES = 40;
const PAUSE_MS = 50;
const halfWritten = /\bworktrees\/[^/\s]+\/(?:commondir|gitdir)\b/;

function isHalfWritten(end: CommandEnd): boolean {
  return end.ended === 'exit' && end.exitCode !== 0 && halfWritten.test(end.stderr);
}

/** `ask` must be safe to repeat: git did nothing, or reports again what is left to do. */
export async function askWhole(ask: () => Promise<CommandEnd>, pauseMs = PAUSE_MS): Promise<CommandEnd> {
  for (let left = TIMES; ; left -= 1) {
    const end = await ask();
    if (left === 0 || !isHalfWritten(end)) return end;
    await sleep(pauseMs);
  }
}

/** Why git did not finish on its own. */
export function gitEndWords(end: Exclude<CommandEnd, { ended: 'exit' }>): string {
  switch (end.ended) {
    case 'not-started':
      return `could not be started (${end.reason})`;
    case 'timeout':
      return 'took too long';
    case 'too-large':
      return 'printed more than can be read';
    case 'stopped':
      return 'was stopped';
  }
}

/** The end of git's output, for a message. */
export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 600);
}

/** The lines of an output whose records end with a line break. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
