// svc uninstall: what was there before `svc init` and what is there afterwards, with real git, the real gh and a real
// daemon: every file, process, worktree, branch and webhook. Nothing is left but what was announced.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { processExists, readPid, signalGroup } from '@svc/lib/pid';
import { svcProgram, until, untilHolds } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { initWorld, TRACKER_TOKEN } from './init-world.ts';

const identity = {
  GIT_AUTHOR_NAME: 'Kim',
  GIT_AUTHOR_EMAIL: 'kim@acme.example',
  GIT_COMMITTER_NAME: 'Kim',
  GIT_COMMITTER_EMAIL: 'kim@acme.example',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

type Plan = {
  items: { action: string; what: string; why: string }[];
  left: { what: string; command: string }[];
  saved: { what: string; file: string; restore: string[] }[];
};

/** Two projects: `web` with a tracker, `api` with its issues. */
async function leavingWorld(agent: string) {
  const world = await initWorld(identity);
  const { home, env, codehost, tracker } = world;
  codehost.cloud.addRepo('acme/api');
  codehost.cloud.addIssue('acme/api', { title: 'Count to four' });
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  for (const title of ['One', 'Two']) tracker.cloud.addIssue({ teamId: team.id, title });
  const folders = { web: world.folder, api: join(home, 'api') };
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '--quiet', folders.api]);
  git(folders.api, 'remote', 'add', 'origin', 'git@code.example:acme/api.git');
  for (const folder of Object.values(folders)) {
    writeFileSync(join(folder, 'README.md'), 'one\n');
    git(folder, 'add', '.');
    git(folder, 'commit', '--quiet', '-m', 'one');
    git(folder, 'branch', '--move', '--force', 'main');
  }
  mkdirSync(join(home, 'precious'));
  writeFileSync(join(home, 'precious/letter'), 'dear\n');
  writeFileSync(join(home, 'agent.sh'), `${agent}\n`);

  const svc = async (folder: string, words: string[], variables: Record<string, string> = {}) => {
    const child = execFile(process.execPath, [svcProgram, ...words], {
      cwd: folder,
      env: { ...env, ...variables },
    });
    let out = '';
    let err = '';
    child.stdout?.on('data', (part: string) => (out += part));
    child.stderr?.on('data', (part: string) => (err += part));
    child.stdin?.end();
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, err };
  };
  const must = async (folder: string, ...words: string[]): Promise<string> => {
    const { code, out, err } = await svc(folder, words);
    expect(code, `svc ${words.join(' ')}\n${out}\n${err}`).toBe(0);
    return out;
  };
  const inventory = () => ({
    files: filesIn(home),
    git: Object.values(folders).map((folder) => [
      git(folder, 'worktree', 'list', '--porcelain'),
      git(folder, 'for-each-ref'),
      git(folder, 'config', '--local', '--list'),
      git(folder, 'stash', 'list'),
    ]),
    hooks: ['acme/web', 'acme/api'].map((repo) => codehost.cloud.repoOf(repo).hooks.length),
    webhooks: tracker.cloud.webhooks.length,
  });
  const pids = (): number[] => {
    const runs = join(home, 'svc/runs');
    const all = existsSync(runs) ? readdirSync(runs, { recursive: true, encoding: 'utf8' }) : [];
    return all
      .filter((name) => name.endsWith('.pid'))
      .flatMap((name) => readPid(readFileSync(join(runs, name), 'utf8')) ?? []);
  };
  const started: number[] = [];
  onTestFinished(() => {
    for (const pid of started) if (processExists(pid)) signalGroup(pid, 'SIGKILL');
  });

  /** `svc init` in both, with the agent in the settings of each. */
  async function setUp(): Promise<void> {
    const web = await world.svc(['init', '--yes', '--token-stdin'], { input: `${TRACKER_TOKEN}\n` });
    expect(web.code, web.out + web.err).toBe(0);
    await must(folders.api, 'init', '--yes');
    for (const folder of Object.values(folders)) {
      const file = join(folder, '.svc/config.json');
      const settings = JSON.parse(readFileSync(file, 'utf8')) as { svc: object };
      const orchestration = { agent: ['/bin/sh', join(home, 'agent.sh'), '${PROMPT}'] };
      writeFileSync(file, JSON.stringify({ svc: { ...settings.svc, orchestration } }));
    }
    await until(() => inventory().hooks.every((count) => count === 1));
    expect(inventory().webhooks).toBe(1);
  }
  async function startAgents(): Promise<number[]> {
    await must(folders.web, 'orchestrate', 'start', 'ABC-2', '--name', 'web-run');
    await must(folders.api, 'orchestrate', 'start', 'GH-1', '--name', 'api-run');
    await until(() => pids().length === 2);
    started.push(...pids());
    return pids();
  }
  const worktree = (name: string): string => join(home, 'svc/wt', name);
  return { ...world, folders, git, svc, must, inventory, setUp, startAgents, worktree };
}

/** Without what git keeps for itself. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !`${entry.parentPath}/`.includes('/.git/'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

test('after it nothing is left but what it announced, and unsaved work can be restored', async () => {
  // Neither ends by itself; that of the project api ignores the request to end.
  const world = await leavingWorld('case $PWD in */api/*) trap "" TERM ;; esac; while :; do sleep 1; done');
  const { home, folders, git, svc, must, inventory, worktree } = world;
  const before = inventory();
  await world.setUp();
  await must(folders.web, 'hooks', 'install', 'claude', '--yes');
  await must(folders.web, 'hooks', 'install', 'codex', '--yes');
  await must(folders.web, 'skills', 'install', '--agent', 'claude', '--yes');
  await must(folders.web, 'skills', 'install', '--agent', 'codex', '--yes');
  await must(folders.web, 'worktree', 'create', 'ABC-1');
  await must(folders.api, 'worktree', 'create', 'GH-7');
  appendFileSync(join(worktree('web/ABC-1'), 'README.md'), 'two\n');
  git(worktree('web/ABC-1'), 'commit', '--quiet', '-am', 'two');
  writeFileSync(join(worktree('web/ABC-1'), 'draft'), 'three\n');
  // A link that somebody put there, with a record that says it is a half removed worktree.
  symlinkSync(join(home, 'precious'), worktree('web/ABC-9'));
  const record = JSON.parse(readFileSync(worktree('web/.records/ABC-1.json'), 'utf8')) as object;
  writeFileSync(
    worktree('web/.records/ABC-9.json'),
    JSON.stringify({ ...record, name: 'ABC-9', branch: 'ABC-9', state: 'removing' }),
  );
  const agents = await world.startAgents();
  const daemon = (world.read('svc/daemon.json') as { pid: number }).pid;

  // Shown, and not done.
  const full = inventory();
  const planned = JSON.parse(await must(folders.web, 'uninstall', '--dry-run', '--json')) as Plan;
  const whatOf = (action: string): string =>
    planned.items
      .filter((item) => item.action === action)
      .map(({ what, why }) => `${what}: ${why}`)
      .join('\n');
  expect(whatOf('end')).toContain(`(pid ${daemon})`);
  for (const pid of agents) expect(whatOf('end')).toContain(`pid ${pid}`);
  expect(whatOf('remove')).toContain('ABC-1 and its branch ABC-1: svc created it. Kept as a bundle');
  expect(whatOf('remove')).toContain('1 uncommitted change, 1 commit');
  expect(whatOf('keep')).toContain(`${folders.web}/.svc: it belongs to the repository`);
  const refused = await svc(folders.web, ['uninstall']);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('svc uninstall --yes') });
  const byAgent = await svc(folders.web, ['uninstall', '--yes'], { SVC_TICKET: 'ABC-2' });
  expect(byAgent).toMatchObject({ code: 1, err: expect.stringContaining('An agent cannot uninstall') });
  expect(inventory().git).toEqual(full.git);
  expect([daemon, ...agents].every(processExists)).toBe(true);

  // The code host does not let it in: what is left is named, and the exit code says so.
  const first = await svc(folders.web, ['uninstall', '--yes'], {
    GH_TOKEN: 'wrong',
    GH_ENTERPRISE_TOKEN: 'wrong',
  });
  expect(first.code, first.out + first.err).toBe(1);
  expect(first.err).toContain('the webhook of acme/api');
  expect(first.err).toContain('gh auth login -s admin:repo_hook Then: svc uninstall');
  // A process that has ended exists until the system has collected it.
  await untilHolds(() => expect([daemon, ...agents].some(processExists)).toBe(false));
  const [, file = ''] = /Kept the worktree ABC-1: (\S+)/.exec(first.out) ?? [];
  expect(statSync(dirname(file)).mode & 0o077).toBe(0);
  expect(file.startsWith(join(home, 'svc-kept/web/'))).toBe(true);
  expect(existsSync(join(home, '.config/svc/config.json'))).toBe(true);

  // It continues.
  const second = await svc(folders.web, ['uninstall', '--yes']);
  expect(second.code, second.out + second.err).toBe(0);
  expect(second.out).toContain('svc is uninstalled.');
  const after = inventory();
  const announced = (path: string): boolean => /^svc-kept(?:\/|$)|^(?:web|api)\/\.svc(?:\/|$)/.test(path);
  expect(after.files.filter((path) => !announced(path))).toEqual(before.files);
  expect({ ...after, files: [] }).toEqual({ ...before, files: [] });
  expect(readFileSync(join(home, 'precious/letter'), 'utf8')).toBe('dear\n');
  expect(await must(folders.web, 'uninstall', '--yes')).toContain('Nothing of svc is left to remove.');
  expect(inventory()).toEqual(after);

  // The printed commands, which are also in the file beside the bundle.
  const commands = readFileSync(join(home, 'svc-kept/web/restore.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('cd '));
  for (const command of commands) {
    expect(first.out).toContain(command);
    execFileSync('/bin/sh', ['-c', command], { env: world.env, stdio: 'ignore' });
  }
  expect(git(folders.web, 'log', '--format=%s', 'ABC-1')).toBe('two\none');
  expect(readFileSync(join(folders.web, 'draft'), 'utf8')).toBe('three\n');
});

test('killed in the middle and run again, it ends complete; with --keep-data the data stays', async () => {
  const world = await leavingWorld('exec sleep 600');
  const { home, folders, svc, must, inventory, worktree } = world;
  const before = inventory();
  await world.setUp();
  const agents = await world.startAgents();
  await must(folders.web, 'worktree', 'create', 'ABC-1');
  writeFileSync(join(worktree('web/ABC-1'), 'draft'), 'three\n');
  await must(folders.web, 'monitor', 'stop');

  const child = spawn(process.execPath, [svcProgram, 'uninstall', '--yes'], {
    cwd: folders.web,
    env: world.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  child.stdout.on('data', (part: Buffer) => {
    if (part.toString().includes('Removed the worktree')) child.kill('SIGKILL');
  });
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  await untilHolds(() => expect(agents.some(processExists)).toBe(false));

  const again = await svc(folders.web, ['uninstall', '--yes', '--keep-data']);
  expect(again.code, again.out + again.err).toBe(0);
  expect(existsSync(join(home, 'svc/events'))).toBe(true);
  expect(world.read('.config/svc/config.json').svc.monitor?.github?.smeeChannel).toBeUndefined();
  expect(inventory()).toMatchObject({ git: before.git, hooks: [0, 0], webhooks: 0 });
  const bundles = filesIn(join(home, 'svc-kept')).filter((path) => path.endsWith('.bundle'));
  const listed = readFileSync(join(home, 'svc-kept/web/restore.txt'), 'utf8');
  for (const path of bundles) expect(listed).toContain(path);

  const last = await svc(folders.web, ['uninstall', '--yes']);
  expect(last.code, last.out + last.err).toBe(0);
  expect(existsSync(join(home, 'svc'))).toBe(false);
  expect(existsSync(join(home, '.config/svc'))).toBe(false);
});
