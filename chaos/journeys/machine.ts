// A person's machine before svc: an empty home with one clone, git's name, gh logged in and one agent, whose programs know
// where the fakes are; so nothing about them is in the home or in the environment. And what is on it, to the last process.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isPid } from '../../packages/lib/src/pid.ts';
import { type FakeCodehost, ghEnvironmentByName } from '../../packages/testkit/src/codehost/fake-codehost.ts';
import { createDaemonHome } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { scriptFolder, writeInto } from '../../packages/testkit/src/script.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { binFolder, KEY, type Program } from '../agent-suite/programs.ts';
import { REMOTE, type Repository } from './codehost.ts';
import { SHELL } from './terminal.ts';

const CODEHOST_TOKEN = 'token';

export function createMachine(
  name: string,
  given: {
    program: Program;
    cache: string;
    models: string;
    codehost: FakeCodehost;
    repository: Repository;
    /** Variables of svc: where the public relay and the tracker are. */
    services: Record<string, string>;
    /** Variables of the agent that its wrapper does not set: the person has to. */
    withheld?: readonly string[];
  },
) {
  const { program, cache, codehost, repository, services, withheld = [] } = given;
  codehost.addToken(CODEHOST_TOKEN);
  const home = scriptFolder(`journey-${name}`);
  const killAll = (): void => {
    for (const { pid } of processesOf(home)) kill(pid);
  };
  // Daemons and agents outlive the terminal, and would outlive this script. Before their folders are removed.
  process.prependListener('exit', killAll);
  const folder = join(home, 'web');
  const bin = scriptFolder(`journey-${name}-bin`);
  const { home: svc } = createDaemonHome(`journey-${name}-svc`);
  const { PATH: _, HOME: __, ...gh } = ghEnvironmentByName(codehost, CODEHOST_TOKEN);
  const variables = program.environment(given.models);
  const known = Object.entries(variables).filter(([variable]) => !withheld.includes(variable));
  writeProgram(bin, 'svc', [process.execPath, join(svc, 'dist/svc.js')], services);
  writeProgram(bin, 'gh', ['/usr/bin/gh'], gh);
  const command = join(binFolder(program, cache), program.command);
  writeProgram(bin, program.command, [command], Object.fromEntries(known));
  const path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const environment: Record<string, string> = { PATH: path, HOME: home, LANG: 'C.UTF-8', USER: name };

  // Some agents run commands in a login shell.
  writeInto(home, '.profile', `PATH='${path}'\n`);
  const settings = program.settings?.(given.models) ?? {};
  for (const [file, content] of Object.entries(withheld.length > 0 ? settings : withLogin(program, settings)))
    writeInto(home, file, content);
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', existsSync(join(folder, '.git')) ? folder : home, ...words], {
      encoding: 'utf8',
      env: { ...environment, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  for (const [setting, value] of Object.entries({
    'core.sshCommand': repository.ssh,
    'ssh.variant': 'simple',
    'user.name': name,
    'user.email': `${name}@example.com`,
  }))
    git('config', '--global', setting, value);
  if (repository.git('for-each-ref', 'refs/heads/main') === '') {
    mkdirSync(folder);
    git('init', '--quiet', '-b', 'main', folder);
    writeInto(folder, 'README.md', 'A web shop\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'Start');
    git('remote', 'add', 'origin', REMOTE);
    git('push', '--quiet', '-u', 'origin', 'main');
  } else git('clone', '--quiet', REMOTE, folder);

  /** Every file with its content, every process, and what git knows of the clone. */
  const inventory = () => ({
    files: filesIn(home),
    digests: digestsIn(home),
    processes: processesOf(home).flatMap(({ command: line }) => (line.endsWith(SHELL) ? [] : line)),
    git: ['worktree list --porcelain', 'for-each-ref', 'config --local --list', 'stash list'].map((words) =>
      git(...words.split(' ')),
    ),
  });

  return {
    name,
    home,
    folder,
    environment,
    git,
    variables,
    inventory,
    /** Where the daemon of this home answers now. */
    daemonUrl(): string {
      const { port } = JSON.parse(readFileSync(join(home, 'svc/daemon.json'), 'utf8')) as { port: number };
      return `http://127.0.0.1:${port}`;
    },
    /** Ends every process of this home by its id, and removes everything. */
    async end(): Promise<void> {
      await until(() => {
        killAll();
        return processesOf(home).length === 0;
      });
      process.removeListener('exit', killAll);
      for (const one of [home, bin, svc]) rmSync(one, { recursive: true, force: true });
    },
  };
}

/** Codex takes its key from a login instead of a variable, which svc would not pass to it by itself. */
function withLogin({ name }: Program, settings: Record<string, string>): Record<string, string> {
  if (name !== 'codex') return settings;
  const config = '.codex/config.toml';
  return {
    [config]: (settings[config] ?? '').replace(/^env_key = .*$/m, 'requires_openai_auth = true'),
    '.codex/auth.json': JSON.stringify({ auth_mode: 'apikey', OPENAI_API_KEY: KEY }),
  };
}

/** A program in the person's PATH that always gets these variables. */
function writeProgram(
  bin: string,
  name: string,
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
): void {
  const exports = Object.entries(variables).map(([variable, value]) => `export ${variable}='${value}'\n`);
  const words = command.map((word) => `'${word}'`).join(' ');
  writeInto(bin, name, `#!/bin/sh\n${exports.join('')}exec ${words} "$@"\n`);
  chmodSync(join(bin, name), 0o755);
}

/** Without what git keeps for itself. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !`${entry.parentPath}/`.includes('/.git/'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

function digestsIn(home: string): Record<string, string> {
  const files = filesIn(home).filter(
    (path) => statSync(join(home, path), { throwIfNoEntry: false })?.isFile() === true,
  );
  return Object.fromEntries(
    files.map((path) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(home, path)))
        .digest('hex'),
    ]),
  );
}

/** By the kernel: every process that was started with this home. */
function processesOf(home: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!isPid(pid) || pid === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      if (!environment.includes(`HOME=${home}`)) return [];
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      if (/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return [];
      return [{ pid, command: readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() }];
    } catch {
      // It ended during the check, or belongs to another user.
      return [];
    }
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
