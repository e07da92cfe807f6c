// The retention policy through the command line and the API of a whole daemon: a dry run, the removal, its lines and the
// doctor's sizes.
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { startInProcess } from './in-process-daemon.ts';

const DAY_MS = 86_400_000;

test('a dry run shows what and why; --yes removes it and logs each removal; the doctor shows the sizes', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/svc'), { recursive: true, mode: 0o700 });
  const settings = { svc: { retention: { runDays: 30, logDays: 30 } } };
  writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify(settings), { mode: 0o600 });
  const clock = { now: Date.now() };
  const daemon = await startInProcess({ home, now: () => new Date(clock.now) });
  const report = (event: string, orchestrator: string) =>
    daemon.post('/api/events', JSON.stringify({ event, scope: { orchestrator } }), {
      'Content-Type': 'application/json',
    });
  const { runsDir } = daemon.machine;
  for (const run of ['run-1', 'run-2']) {
    mkdirSync(join(runsDir, run), { recursive: true });
    writeFileSync(join(runsDir, run, 'notes.md'), run);
    await report('orchestrator.run.started', run);
  }
  await report('orchestrator.run.completed', 'run-1');
  mkdirSync(join(home, 'svc/logs'), { recursive: true });
  writeFileSync(join(home, 'svc/logs/monitor.log.1'), 'text');
  utimesSync(join(home, 'svc/logs/monitor.log.1'), 0, 0);
  const svc = async (...words: string[]) => {
    const terminal = {
      ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc'), USER: 'kim' } }),
      folder: home,
      home,
      now: () => new Date(clock.now),
    };
    const code = await runCommandLine(terminal, words);
    return { code, out: terminal.printed(), err: terminal.complained() };
  };
  expect(await svc('archive', 'sweep')).toMatchObject({ code: 0 });
  // Events show that the days have passed; otherwise the clock may be wrong.
  for (let days = 0; days < 31; days += 3) {
    clock.now += 3 * DAY_MS;
    await report('orchestrator.run.started', 'run-3');
  }

  const dry = await svc('retention');
  expect(dry).toMatchObject({ code: 0, err: '' });
  expect(dry.out).toMatch(/^runs\s+2 items\s+10 B\s+svc\.retention\.runDays: 30 d$/m);
  expect(dry.out).toMatch(/^event log\s+1 item .*never removed$/m);
  expect(dry.out).toMatch(/^runs\s+run-2\s+5 B\s+the run has not ended: it is running$/m);
  expect(dry.out).toMatch(/^runs\s+run-1\s+5 B\s+unchanged for 3\d d \(svc\.retention\.runDays: 30\)$/m);
  expect(dry.out).toContain('Dry run: 2 items, 9 B. Remove it: svc retention --yes');
  expect(existsSync(join(runsDir, 'run-1'))).toBe(true);
  const { body } = await daemon.get('/api/retention');
  expect(body).toMatchObject({ automatic: false, last: null });
  expect(JSON.parse((await svc('retention', '--json')).out)).toEqual(body);
  await until(async () => (await svc('doctor')).out.match(/2 can be removed \(.+\): svc retention/) !== null);

  const done = await svc('retention', '--yes');
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(done.out).toContain('Removed: 2 items, 9 B.');
  expect(existsSync(join(runsDir, 'run-1'))).toBe(false);
  expect(readFileSync(join(runsDir, 'run-2', 'notes.md'), 'utf8')).toBe('run-2');
  const { body: found } = await daemon.get('/api/events?event=monitor.retention.removed');
  expect(found).toMatchObject({
    events: [
      { detail: { kind: 'runs', name: 'run-1', bytes: 5, by: 'kim' } },
      { detail: { kind: 'logs', name: 'monitor.log.1', bytes: 4, by: 'kim' } },
    ],
  });
  expect((await svc('retention')).out).toContain('Nothing is to be removed.');
  await until(async () =>
    (await svc('doctor')).out.includes('nothing of it is old enough to be removed: svc retention'),
  );
  expect((await svc('doctor')).out).toMatch(
    /svc uses: worktrees 0 B, runs 5 B, journals 0 B, archives \d+ B/,
  );
});
