// Findings with a running daemon: what the helpers do becomes events in its log.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal, testTracker } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { startInProcess } from './in-process-daemon.ts';

test('a finding that is added and filed at the end of the run is in the log', async () => {
  const tracker = await testTracker('lin_api_e2e');
  tracker.cloud.addTeam({ key: 'ABC' });
  const daemon = await startInProcess();
  const environment = {
    SVC_DATA_DIR: daemon.machine.dataDir,
    SVC_TRACKER_API_URL: tracker.url,
    SVC_SESSION_ID: 'run-1',
  };
  const terminal = testTerminal({ environment });
  mkdirSync(join(terminal.home, '.svc'));
  const project = { projectKey: 'demo', project: { ticketPrefix: 'ABC' }, feedback: { autoFile: true } };
  const svc = { ...project, tracker: { teamKey: 'ABC' } };
  writeFileSync(join(terminal.home, '.svc', 'config.json'), JSON.stringify({ svc }));
  mkdirSync(join(terminal.home, '.config', 'svc'), { recursive: true });
  const secrets = { svc: { tracker: { apiToken: 'lin_api_e2e', teamKey: 'ABC' } } };
  writeFileSync(join(terminal.home, '.config', 'svc', 'config-demo.json'), JSON.stringify(secrets), {
    mode: 0o600,
  });

  expect(await runCommandLine(terminal, ['feedback', 'consent', 'grant', '--here'])).toBe(0);

  const words = ['--title', 'Slow tests', '--body', 'Ten minutes.', '--skill', 'implement-plan'];
  expect(await runCommandLine(terminal, ['add-finding', ...words])).toBe(0);
  expect(await runCommandLine(terminal, ['findings', 'drain'])).toBe(0);

  expect(terminal.complained()).toBe('');
  expect(tracker.cloud.issues).toMatchObject([{ title: 'Slow tests' }]);
  expect(daemon.lines()).toMatchObject([
    { event: 'feedback.finding_added', source: 'cli', detail: { title: 'Slow tests', severity: 'low' } },
    { event: 'feedback.finding_filed', detail: { destination: 'tracker', filedAs: 'ABC-1' } },
    { event: 'feedback.drained', detail: { filed: 1, failed: 0 } },
  ]);
});
