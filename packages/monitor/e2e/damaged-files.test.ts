// Whatever is put in the place of a configuration file: the daemon answers, names the file and its fix, keeps the last
// valid values, still applies changes of other files, and is as before once it is repaired. `npm run chaos:files` does it
// with thousands of random damages, also of the data root, as a user without root's permissions.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { canBeOtherUser, OTHER_UID, svcProgram, temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';

const settings = (timeoutSec: number) =>
  JSON.stringify({
    svc: { projectKey: 'demo', deploy: { 'acme/web': { skipDeployVerification: false, timeoutSec } } },
  });

async function twoProjects() {
  const home = temporaryFolder();
  const write = (path: string, text: string): string => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const file = write('one/.svc/config.json', settings(100));
  write('two/.svc/config.json', settings(100).replaceAll('acme/web', 'acme/two'));
  write(
    '.config/svc/config.json',
    JSON.stringify({ svc: { projects: [join(home, 'one'), join(home, 'two')] } }),
  );
  const daemon = await startInProcess({ home });
  type Problem = { severity: string; file: string; text: string; remedy: string };
  const problems = async (): Promise<Problem[]> => {
    const { body } = await daemon.get('/api/health');
    const found = (body['configuration'] as { problems: Problem[] }).problems;
    return found.filter(({ severity }) => severity === 'error');
  };
  /** The policy that counts for a merge now. */
  const policyOf = (repo: string): unknown =>
    daemon
      .allLines()
      .filter(({ event }) => event === 'monitor.config.applied')
      .findLast(({ detail }) => Object.hasOwn(detail['deploy'] ?? {}, repo))?.detail['deploy'];
  return { home, file, write, daemon, problems, policyOf };
}

const damages: [what: string, damage: (file: string) => void, words: string][] = [
  [
    'a link to itself',
    (file) => symlinkSync('config.json', file),
    'is a link that leads in a circle (ELOOP)',
  ],
  ['a link to nothing', (file) => symlinkSync('/nowhere', file), 'is a link to a file outside'],
  ['a name too long', (file) => symlinkSync(`./${'n'.repeat(300)}`, file), 'cannot be read (ENAMETOOLONG)'],
  ['a pipe', (file) => void execFileSync('mkfifo', [file]), 'is a pipe, not a regular file'],
  ['a folder', (file) => mkdirSync(file), 'is a folder, not a regular file'],
  [
    'a socket',
    (file) => {
      const server = createServer().listen(file);
      onTestFinished(() => void server.close());
    },
    'is not a regular file',
  ],
  [
    'a file without end',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 2 ** 40);
    },
    'at most 1048576 are read',
  ],
];

test.each(damages)(
  '%s as project file: named, nothing is applied or lost, repaired',
  async (_, damage, words) => {
    const { file, write, problems, policyOf } = await twoProjects();
    rmSync(file);
    damage(file);
    const problem = await until(async () => (await problems()).find(({ text }) => text.includes(words)));
    expect(problem).toMatchObject({ file, remedy: expect.stringMatching(/^[A-Z]/) });
    write('two/.svc/config.json', settings(200).replaceAll('acme/web', 'acme/two'));
    await until(() => JSON.stringify(policyOf('acme/two')).includes('200'));
    expect(policyOf('acme/web')).toMatchObject({ 'acme/web': { skipDeployVerification: false } });
    rmSync(file, { recursive: true });
    write('one/.svc/config.json', settings(300));
    await until(async () => (await problems()).length === 0);
    expect(policyOf('acme/web')).toMatchObject({ 'acme/web': { timeoutSec: 300 } });
  },
);

test.each([
  ['is gone', (folder: string): void => renameSync(folder, `${folder}-moved`)],
  [
    'is an empty mount point',
    (folder: string): void => {
      renameSync(folder, `${folder}-moved`);
      mkdirSync(folder);
    },
  ],
])('the folder of a project %s: the disk may not be mounted, and no file is asked for', async (_, damage) => {
  const { home, problems } = await twoProjects();
  const folder = join(home, 'one');
  damage(folder);
  const found = await until(async () => {
    const now = await problems();
    return now.some(({ text }) => text.includes('is gone')) ? now : undefined;
  });
  expect(found).toEqual([
    {
      severity: 'error',
      file: folder,
      text: `${folder}: the folder of the project is gone; is its disk mounted?`,
      remedy: expect.stringContaining('Mount the disk'),
    },
  ]);
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}-moved`, folder);
  await until(async () => (await problems()).length === 0);
});

test('a file of the spool that cannot be read is put aside, and the others are taken', async () => {
  const { home, daemon } = await twoProjects();
  const spool = join(home, 'svc/spool');
  mkdirSync(spool, { recursive: true });
  execFileSync('mkfifo', [join(spool, '1-pipe.json')]);
  mkdirSync(join(spool, '2-folder.json'));
  symlinkSync('/dev/zero', join(spool, '3-link.json'));
  const detail = { reason: 'x', message: 'hello', severity: 'low' };
  const event = { event: 'comms.attention', source: 'cli', via: 'local', scope: {}, detail };
  writeFileSync(join(spool, '4-event.json'), JSON.stringify(event));
  await until(() => daemon.lines().some((line) => line.deliveryId === 'spool:4-event.json'));
  await until(async () => {
    const { body } = await daemon.get('/api/health');
    return (body['spool'] as { rejected: number }).rejected === 3;
  });
});

test.each([
  ['cut to nothing', ''],
  ['overwritten', 'this is not a database '.repeat(1_000)],
])(
  'a database that is %s while the daemon runs: health answers, names it, and the next start repairs it',
  async (_, text) => {
    const { home, daemon: first, write } = await twoProjects();
    // An end writes everything into the database itself.
    await first.close();
    const daemon = await startInProcess({ home });
    const file = write('svc/svc.db', text);
    const health = async () => daemon.get('/api/health');
    await until(async () => JSON.stringify((await health()).body['log']).includes(`${file} cannot be read`));
    const { status, body } = await health();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'degraded',
      log: { state: 'degraded', remedy: expect.stringContaining('svc monitor restart') },
      outbox: { state: 'degraded', why: expect.stringContaining('cannot be read') },
    });
    await daemon.close();
    const again = await startInProcess({ home });
    expect((await again.get('/api/health')).body['log']).toMatchObject({ state: 'live' });
  },
);

test('the files of an agent that cannot be read are named; without them its conversation is empty', async () => {
  const { daemon, write } = await twoProjects();
  const startedAt = new Date().toISOString();
  const signal = { ticket: 'ENG-1', orchestrator: 'r', workerName: 'w', status: 'implementing', phase: 1 };
  write('svc/runs/r/workers/ENG-1.json', JSON.stringify({ ...signal, startedAt, updatedAt: startedAt }));
  const conversation = () => daemon.get('/api/workers/ENG-1/agent?attempt=1');
  await until(async () => (await conversation()).status === 200);
  expect((await conversation()).body).toMatchObject({ items: [], journal: null });
  const sent = write('svc/runs/r/workers/output/ENG-1.1.sent.jsonl/x', '');
  expect(await conversation()).toMatchObject({
    status: 500,
    body: { code: 'file-unusable', remedy: expect.stringContaining(dirname(sent)) },
  });
});

test('a host id that is none is set aside and named, and nothing is written through a link', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'svc'), { mode: 0o700 });
  writeFileSync(join(home, 'notes'), 'mine');
  symlinkSync(join(home, 'notes'), join(home, 'svc/host-id'));
  const daemon = await startInProcess({ home });
  const { notices } = (await daemon.get('/api/health')).body['log'] as { notices: object[] };
  const path = expect.stringContaining(join(home, 'svc/host-id.damaged-'));
  expect(notices).toMatchObject([{ kind: 'host-id-set-aside', path }]);
  expect(readFileSync(join(home, 'notes'), 'utf8')).toBe('mine');
  expect(readFileSync(join(home, 'svc/host-id'), 'utf8')).toMatch(/^[0-9a-f-]{36}\n$/);
});

test('last valid values of a wrong shape are ignored, not fatal', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'svc'), { mode: 0o700 });
  for (const text of [
    '[{"folder":7}]',
    '{"a":1}',
    '[{"folder":"/x","by":"list","values":[{"path":"a"}]}]',
    '[',
  ]) {
    writeFileSync(join(home, 'svc/last-good-config.json'), text);
    const daemon = await startInProcess({ home });
    expect((await daemon.get('/api/health')).body).toMatchObject({ configuration: { problems: [] } });
    await daemon.close();
  }
});

// Permissions do not hold root back, so the daemon is one of another user.
test('a folder without permission, while the daemon runs and at its start', async ({ skip }) => {
  skip(!canBeOtherUser, 'only root can start a process of another user');
  const home = temporaryFolder();
  const folder = join(home, 'project/.svc');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), settings(100));
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  writeFileSync(
    join(home, '.config/svc/config.json'),
    JSON.stringify({ svc: { projects: [join(home, 'project')] } }),
    { mode: 0o600 },
  );
  execFileSync('chown', ['-R', `${OTHER_UID}:${OTHER_UID}`, home]);
  const looks = [svcProgram, home].map((path) => `require('node:fs').accessSync(${JSON.stringify(path)})`);
  const reached = spawnSync(process.execPath, ['-e', looks.join(';')], { uid: OTHER_UID, gid: OTHER_UID });
  skip(reached.status !== 0, 'another user cannot reach the program or the folder for temporary files');

  const start = async () => {
    const child = spawn(process.execPath, [svcProgram, 'monitor', 'run'], {
      cwd: home,
      uid: OTHER_UID,
      gid: OTHER_UID,
      env: { HOME: home, PATH: process.env['PATH'], SVC_MONITOR_PORT: '0' },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const { url } = await until(() => {
      const text = readFileSync(join(home, 'svc/daemon.json'), 'utf8');
      const record = JSON.parse(text) as { state: string; pid: number; url: string };
      return record.state === 'running' && record.pid === child.pid ? record : undefined;
    });
    const ask = async <Answer>(path: string): Promise<Answer> =>
      (await (await fetch(url + path)).json()) as Answer;
    type Health = { filesChecked: boolean; configuration: { problems: { file: string; text: string }[] } };
    return {
      child,
      problems: async () => {
        const { filesChecked, configuration } = await ask<Health>('/api/health');
        return filesChecked ? configuration.problems : undefined;
      },
      policies: async () =>
        (await ask<{ policies: { repo: string; verification: string }[] }>('/api/deploy/policy')).policies,
    };
  };
  const named = async ({ problems }: Awaited<ReturnType<typeof start>>) =>
    (await problems())?.some(({ file, text }) => file.startsWith(folder) && text.includes('EACCES'));
  const required = [expect.objectContaining({ repo: 'acme/web', verification: 'required' })];

  const running = await start();
  await until(async () => (await running.problems())?.length === 0);
  chmodSync(folder, 0);
  await until(() => named(running));
  expect(await running.policies()).toEqual(required);
  expect(running.child.exitCode).toBeNull();
  running.child.kill('SIGTERM');
  await once(running.child, 'exit');

  const again = await start();
  await until(() => named(again));
  expect(await again.policies()).toEqual(required);
  chmodSync(folder, 0o755);
  await until(async () => (await again.problems())?.length === 0);
  expect(await again.policies()).toEqual(required);
  expect(again.child.exitCode).toBeNull();
});
