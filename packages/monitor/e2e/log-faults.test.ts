// Faults of the clock and of the log's files: health reports each, with the cause and the fix, and so does the
// doctor; then the fix is applied, and health is ok.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { storyRepo, testTerminal, until } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';
import { runDoctor } from './run-doctor.ts';
import { storyDaemon } from './story-daemon.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 15, 12);
const json = { 'Content-Type': 'application/json' };

type Part = { state: string; why?: string; remedy?: string };
type Health = {
  status: string;
  log: Part & { missing: { from: number; to: number }[]; lastSeq: number; file: string };
  clock: Part & { lateUntil: string | null };
  dataRoot: Part;
};

const healthOf = async (daemon: InProcessDaemon): Promise<Health> =>
  (await daemon.get('/api/health')).body as unknown as Health;

/** An event reported by a helper; returns the daemon's response. */
const fact = (daemon: InProcessDaemon, ticket = 'ENG-7') =>
  daemon.post(
    '/api/events',
    JSON.stringify({
      event: 'orchestrator.worker.status_changed',
      scope: { ticket },
      detail: { to: 'researching' },
    }),
    json,
  );

async function facts(daemon: InProcessDaemon, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    expect((await fact(daemon, `ENG-${index}`)).status).toBe(200);
}

async function command(home: string, ...words: string[]): Promise<string> {
  const terminal = {
    ...testTerminal({ environment: { PATH: '/usr/bin:/bin', SVC_MONITOR_PORT: '0', HOME: home } }),
    home,
    folder: home,
  };
  expect(await runCommandLine(terminal, words), terminal.complained()).toBe(0);
  return terminal.printed();
}

const monthFile = (daemon: InProcessDaemon, name: string): string => join(daemon.machine.eventsDir, name);

async function acceptMissing(daemon: InProcessDaemon): Promise<void> {
  await command(daemon.home, 'events', 'reindex', '--accept-missing');
  expect(await healthOf(daemon)).toMatchObject({ status: 'ok', log: { state: 'live', missing: [] } });
}

describe('a clock that was ahead', () => {
  async function onceAhead() {
    const clock = { time: START };
    const now = () => new Date(clock.time);
    const daemon = await startInProcess({ now });
    await facts(daemon, 2);
    clock.time = START + 16 * DAY;
    await facts(daemon, 2);
    clock.time = START + 60_000;
    await facts(daemon, 1);
    return { daemon, clock, now };
  }

  test('is reported with the time until which lines are late; after a restart lines have the true time', async () => {
    const { daemon, clock, now } = await onceAhead();
    const late = '2026-12-01T12:00:00.000Z';
    expect(daemon.lines().at(-1)?.ts).toBe(late);
    const { status, clock: reported } = await healthOf(daemon);
    expect({ status, ...reported }).toMatchObject({ status: 'degraded', state: 'degraded', lateUntil: late });
    expect(reported.why).toContain(`383 h 59 min behind the newest event`);
    expect(reported.remedy).toContain('svc monitor restart');
    expect((await runDoctor({ home: daemon.home })).printed).toMatch(
      /^broken +clock +this machine's clock is .* behind .*\n +Check the clock .*svc monitor restart/m,
    );
    await daemon.close();

    const again = await startInProcess({ home: daemon.home, now });
    await facts(again, 1);
    expect(await healthOf(again)).toMatchObject({ status: 'ok', clock: { state: 'live', lateUntil: null } });
    expect(again.lines().at(-1)?.ts).toBe(now().toISOString());
    const { printed } = await runDoctor({ home: daemon.home });
    expect(printed).not.toMatch(/^broken/m);
    // Queries by time use the time of each line; the order is that of seq.
    clock.time += 60_000;
    const listed = await again.get(
      `/api/events?since=${new Date(START + 30_000).toISOString()}&until=${now().toISOString()}&event=orchestrator.*`,
    );
    const events = listed.body['events'] as { seq: number; ts: string }[];
    expect(events.map(({ ts }) => ts)).toEqual([new Date(START + 60_000).toISOString()]);
    const all = (await again.get('/api/events?order=oldest-first&limit=1000')).body[
      'events'
    ] as typeof events;
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    const at = await again.get(`/api/board?at=${now().toISOString()}`);
    expect(at.body['seq']).toBe(all.length);
    await until(async () => (await again.get('/api/board')).body['seq'] === all.length);
  });

  test('from two minutes on, and not before', async () => {
    const clock = { time: START };
    const daemon = await startInProcess({ now: () => new Date(clock.time) });
    await facts(daemon, 1);
    clock.time = START - 119_999;
    expect((await healthOf(daemon)).clock).toEqual({ state: 'live', lateUntil: null });
    clock.time = START - 120_000;
    expect((await healthOf(daemon)).clock).toMatchObject({
      state: 'degraded',
      lateUntil: new Date(START).toISOString(),
    });
  });

  test("the deadline of a deploy that is retried meanwhile uses the machine's clock", async () => {
    const shift = { ms: 0 };
    const settings = { deploy: { [storyRepo]: { skipDeployVerification: false, timeoutSec: 600 } } };
    const now = () => new Date(Date.now() + shift.ms);
    const daemon = await storyDaemon({ settings, now });
    daemon.setStatus('pr-created');
    await daemon.happens('pull_request merged');
    await until(async () => (await whyOf(daemon)).status === 'merged');
    for (const id of [1, 2, 3]) await daemon.happens('deployment_status error', { deployment: { id } });
    await until(async () => (await whyOf(daemon)).status === 'deploy-failed');
    shift.ms = 16 * DAY;
    expect((await fact(daemon)).status).toBe(200);
    shift.ms = 0;
    const before = Date.now();
    const retried = await daemon.post('/api/workers/ENG-42/deploy', '{"action":"retry","by":"kim"}', json);
    expect(retried.status).toBe(200);
    const { until: deadline } = await whyOf(daemon);
    expect(Date.parse(String(deadline))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(String(deadline))).toBeLessThan(Date.now() + DAY);
  });
});

async function whyOf(daemon: InProcessDaemon): Promise<{ status?: string; until?: string | null }> {
  return (await daemon.get('/api/workers/ENG-42/why')).body;
}

test('whatever the umask, nothing in the data root is accessible to others', async () => {
  const daemon = await storyDaemon();
  daemon.setStatus('researching');
  await facts(daemon, 1);
  await until(async () => (await daemon.get('/api/workers/ENG-42/why')).status === 200);
  const { dataDir } = daemon.machine;
  // What the test itself created, in place of a worker.
  const own = new Set(['runs', 'runs/run-1', 'runs/run-1/workers', 'runs/run-1/workers/ENG-42.json']);
  const wide = readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => !own.has(name) && (statSync(join(dataDir, name)).mode & 0o077) !== 0);
  expect(wide).toEqual([]);
});

describe('lines that go missing', () => {
  const file = '2026-11.jsonl';
  const now = () => new Date(START);

  test('the log is cut while the daemon runs', async () => {
    const daemon = await startInProcess({ now });
    await facts(daemon, 30);
    const path = monthFile(daemon, file);
    const { lastSeq } = (await healthOf(daemon)).log;
    const lines = readFileSync(path, 'utf8').split('\n');
    truncateSync(path, Buffer.byteLength(`${lines.slice(0, 10).join('\n')}\n`) + 20);
    const cut = await healthOf(daemon);
    expect(cut).toMatchObject({ status: 'degraded', log: { state: 'degraded' } });
    expect(cut.log.why).toContain('removed, truncated or replaced');

    expect((await fact(daemon)).status).toBe(200);
    const said = `events 11 to ${lastSeq} are missing from the log`;
    expect((await healthOf(daemon)).log).toMatchObject({ state: 'degraded', why: said });
    expect((await runDoctor({ home: daemon.home })).printed).toMatch(
      new RegExp(`^broken +log +${said}\\n.*svc events reindex --accept-missing`, 'm'),
    );
    await daemon.close();

    const again = await startInProcess({ home: daemon.home, now });
    expect((await healthOf(again)).log).toMatchObject({ state: 'degraded', why: said });
    await acceptMissing(again);
    await again.close();
    expect(await healthOf(await startInProcess({ home: daemon.home, now }))).toMatchObject({ status: 'ok' });
  });

  test('the month file is removed while the daemon runs', async () => {
    const daemon = await startInProcess({ now });
    await facts(daemon, 5);
    const { lastSeq } = (await healthOf(daemon)).log;
    rmSync(monthFile(daemon, file));
    expect((await healthOf(daemon)).log.state).toBe('degraded');
    const { status, body } = await fact(daemon);
    expect([status, body['seq']]).toEqual([200, lastSeq + 1]);
    expect(readFileSync(monthFile(daemon, file), 'utf8')).toContain(`"seq":${lastSeq + 1},`);
    const said = `events 1 to ${lastSeq} are missing from the log`;
    expect((await healthOf(daemon)).log).toMatchObject({ state: 'degraded', why: said });
    await acceptMissing(daemon);
  });

  test('the end of the log is cut while the daemon is stopped: its numbers are not used again', async () => {
    const daemon = await startInProcess({ now });
    await facts(daemon, 10);
    await daemon.close();
    const path = monthFile(daemon, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    const last = lines.length - 1;
    truncateSync(path, Buffer.byteLength(`${lines.slice(0, 4).join('\n')}\n`));
    const again = await startInProcess({ home: daemon.home, now });
    const said = `events 5 to ${last} are missing from the log`;
    expect((await healthOf(again)).log).toMatchObject({ state: 'degraded', why: said });
    expect(again.lines().every(({ seq }) => seq <= 4 || seq > last)).toBe(true);
    await acceptMissing(again);
  });

  test('an old month is moved away while the daemon is stopped, and put back', async () => {
    const clock = { time: START };
    const moving = () => new Date(clock.time);
    const first = await startInProcess({ now: moving });
    await facts(first, 5);
    await first.close();
    const { home } = first;
    const old = statSync(monthFile(first, file)).size;
    clock.time = Date.UTC(2026, 11, 2);
    const second = await startInProcess({ home, now: moving });
    const lastOfNovember = readFileSync(monthFile(second, file), 'utf8').split('\n').length - 1;
    await facts(second, 5);
    expect(await healthOf(second)).toMatchObject({ status: 'ok' });
    renameSync(monthFile(second, file), join(home, file));
    const said = `events 1 to ${lastOfNovember} are missing from the log`;
    expect((await healthOf(second)).log).toMatchObject({ state: 'degraded', why: said });
    await second.close();

    const third = await startInProcess({ home, now: moving });
    expect((await healthOf(third)).log).toMatchObject({ state: 'degraded', why: said });
    await third.close();
    renameSync(join(home, file), monthFile(third, file));
    const fourth = await startInProcess({ home, now: moving });
    expect(statSync(monthFile(fourth, file)).size).toBe(old);
    expect(await healthOf(fourth)).toMatchObject({ status: 'ok', log: { missing: [] } });
  });

  test('the data root is removed while the daemon runs: it is reported with the pid', async () => {
    const daemon = await startInProcess({ now });
    await facts(daemon, 3);
    rmSync(daemon.machine.dataDir, { recursive: true });
    expect((await fact(daemon)).status).toBe(200);
    const { dataRoot, status } = await healthOf(daemon);
    expect(status).toBe('degraded');
    expect(dataRoot.why).toContain(
      `the data root ${daemon.machine.dataDir} was removed or replaced while the daemon (pid ${process.pid}) was running`,
    );
    expect(dataRoot.remedy).toContain('svc monitor restart');
    await daemon.close();
    const again = await startInProcess({ home: daemon.home, now });
    expect(await healthOf(again)).toMatchObject({ dataRoot: { state: 'live' }, log: { state: 'degraded' } });
    await acceptMissing(again);
  });
});
