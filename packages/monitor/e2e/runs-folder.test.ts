// The folder in which the daemon finds runs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';

test.each([
  ['~/svc/runs', undefined],
  ['from SVC_RUNS_DIR', 'elsewhere'],
])('runs are read from %s', async (_where, folder) => {
  const home = temporaryFolder();
  const runsDir = join(home, folder ?? 'svc/runs');
  const workers = join(runsDir, 'run-1', 'workers');
  mkdirSync(workers, { recursive: true });
  const now = new Date().toISOString();
  const signal = {
    ticket: 'ENG-1',
    orchestrator: 'run-1',
    workerName: 'w1',
    status: 'planning',
    phase: 2,
    startedAt: now,
    updatedAt: now,
  };
  writeFileSync(join(workers, 'ENG-1.json'), JSON.stringify(signal));
  const daemon = await startInProcess({
    home,
    ...(folder !== undefined && { environment: { SVC_RUNS_DIR: runsDir } }),
  });
  await until(async () => (await daemon.get('/api/workers/ENG-1/why')).status === 200);
  const { body } = await daemon.get('/api/workers/ENG-1/why');
  expect(body).toMatchObject({ orchestrator: 'run-1', status: 'planning' });
});
