// svc init without a terminal, inside this process: what is written, what is kept, and steps that fail alone.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startPublicRelay, testTerminal, testTracker } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

const TOKEN = 'hush-tracker-token';

async function place(more: Record<string, string> = {}) {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  const tracker = await testTracker(TOKEN);
  tracker.cloud.addTeam({ key: 'ABC' });
  const base = testTerminal({ input: `${TOKEN}\n` });
  const folder = join(base.home, 'web');
  mkdirSync(folder);
  execFileSync('git', ['init', '--quiet', folder]);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'https://code.example/acme/web']);
  const environment = {
    HOME: base.home,
    // Logged out: nobody can tell of the repository.
    PATH: '/usr/bin:/bin',
    GH_CONFIG_DIR: join(base.home, 'gh'),
    SVC_TRACKER_API_URL: tracker.url,
    SVC_RELAY_URL: relay.url,
    ...more,
  };
  const write = (path: string, value: unknown): void => {
    mkdirSync(dirname(join(base.home, path)), { recursive: true });
    writeFileSync(join(base.home, path), JSON.stringify(value), { mode: 0o600 });
  };
  /** No daemon: `--no-start` leaves it out, and the doctor with it. */
  const init = async (...words: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = {
      ...base,
      environment,
      folder,
      out: (text: string) => void out.push(text),
      err: (text: string) => {
        err.push(text);
        if (interruptAt?.test(text)) interrupt.abort();
      },
      interrupted: interrupt.signal,
    };
    const code = await runCommandLine(terminal, ['init', '--no-start', ...words]);
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
  let interruptAt: RegExp | undefined;
  const interrupt = new AbortController();
  const read = (path: string) => JSON.parse(readFileSync(join(base.home, path), 'utf8'));
  return { tracker, folder, write, init, read, interruptWhen: (words: RegExp) => void (interruptAt = words) };
}

type Report = { ok: boolean; steps: { step: string; outcome: string; what: string; again: string | null }[] };

const outcomesOf = (text: string) =>
  Object.fromEntries((JSON.parse(text) as Report).steps.map(({ step, outcome }) => [step, outcome]));

test('a relay that cannot be reached fails its steps alone, with the command that repeats them', async () => {
  const { init } = await place({ SVC_RELAY_URL: 'http://127.0.0.1:9' });
  const { code, out, err } = await init('--yes', '--json', '--token-stdin', '--public-relay');
  expect(code).toBe(6);
  expect(outcomesOf(out)).toEqual({
    'project-file': 'done',
    secrets: 'done',
    registration: 'done',
    'tracker-ids': 'done',
    'code-host-feed': 'failed',
    'tracker-feed': 'failed',
    daemon: 'skipped',
    doctor: 'skipped',
  });
  expect((JSON.parse(out) as Report).ok).toBe(false);
  expect(err).toMatch(/^failed +code-host-feed +.*relay/m);
  expect(err).toMatch(/^ +Repeat: svc setup-webhooks$/m);
  expect(err).toMatch(/^ +Repeat: svc setup-webhooks --linear-register$/m);
  expect(out + err).not.toContain(TOKEN);
});

test('a tracker without rights for webhooks fails that step alone', async () => {
  const { init, tracker } = await place();
  const refusal = { kind: 'graphql-error', message: 'No admin', code: 'FORBIDDEN', status: 403 } as const;
  tracker.failNext(refusal, { field: 'webhooks' });
  const { code, out, err } = await init('--yes', '--json', '--token-stdin', '--public-relay');
  expect(code).toBe(6);
  expect(outcomesOf(out)).toMatchObject({ 'code-host-feed': 'done', 'tracker-feed': 'failed' });
  expect(err).toMatch(/^failed +tracker-feed +The owner of the API token is not allowed to do this/m);
});

test('a project file that cannot be written: steps that need it are skipped, and no other file is written', async () => {
  const { init, folder, read } = await place();
  symlinkSync('/proc/nowhere', join(folder, '.svc'));
  const { code, out } = await init('--yes', '--json', '--token-stdin');
  expect(code).toBe(6);
  expect(outcomesOf(out)).toEqual({ 'project-file': 'failed', daemon: 'skipped', doctor: 'skipped' });
  expect(() => read('.config/svc/config.json')).toThrow('ENOENT');
});

test('an existing file keeps its spelling, its location and its other values', async () => {
  const { init, write, read } = await place();
  write('web/.claude/config.json', {
    svc: { linear: { teamKey: 'OLD' }, project: { ticketPrefix: 'OLD', name: 'Web' } },
  });
  const { code, out } = await init('--yes', '--json', '--token-stdin', '--team', 'ABC', '--no-webhooks');
  expect(code, out).toBe(0);
  const { svc } = read('web/.claude/config.json');
  expect(svc).toMatchObject({
    projectKey: 'web',
    linear: { teamKey: 'ABC', teamId: expect.any(String) },
    project: { ticketPrefix: 'ABC', name: 'Web' },
  });
  expect(svc.tracker).toBeUndefined();
});

test('secrets in the global file stay in use: the token is stored with them', async () => {
  const { init, write, read } = await place();
  write('.config/svc/config.json', { svc: { search: { apiKey: 'hush-search' } } });
  expect((await init('--yes', '--token-stdin', '--no-webhooks')).code).toBe(0);
  expect(read('.config/svc/config.json').svc).toMatchObject({
    search: { apiKey: 'hush-search' },
    tracker: { apiToken: TOKEN },
  });
  expect(() => read('.config/svc/config-web.json')).toThrow('ENOENT');
});

test('the token of another checkout of the same project is found by its key, and gets its team', async () => {
  const { init, write, read } = await place();
  write('.config/svc/config-web.json', { svc: { tracker: { apiToken: TOKEN } } });
  const { out } = await init('--yes', '--json', '--no-webhooks');
  expect(JSON.parse(out)).toMatchObject({ answers: { token: 'kept', ticketPrefix: 'ABC' } });
  expect(read('.config/svc/config-web.json').svc.tracker).toEqual({ apiToken: TOKEN, teamKey: 'ABC' });
});

test('wrong flags and a broken configuration end it before anything is written', async () => {
  const { init, write, read } = await place();
  expect(await init('--yes', '--token-file', 'nowhere')).toMatchObject({
    code: 2,
    err: expect.stringContaining('ENOENT'),
  });
  expect(await init('--yes', '--token-file', 'a', '--token-stdin')).toMatchObject({ code: 2 });
  expect(await init('--yes', '--relay', 'no url')).toMatchObject({ code: 2 });
  expect(() => read('.config/svc/config.json')).toThrow('ENOENT');
  write('web/.svc/config.json', { svc: { projectKey: 7 } });
  expect(await init('--yes')).toMatchObject({ code: 4, err: expect.stringContaining('svc config validate') });
});

test('Ctrl-C between two steps ends with 130, and what is written is valid', async () => {
  const { init, read, interruptWhen } = await place();
  interruptWhen(/project-file/);
  const { code, err } = await init('--yes', '--json', '--token-stdin');
  expect({ code, err }).toMatchObject({ code: 130, err: expect.stringContaining('Continue: svc init') });
  expect(read('web/.svc/config.json')).toMatchObject({ svc: { projectKey: 'web' } });
  expect(() => read('.config/svc/config-web.json')).toThrow('ENOENT');
});
