import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventDraft } from '@svc/core';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { readMachine } from './environment.ts';
import { openLiveConfig } from './live.ts';

const proofOf = (skipDeployVerification: boolean): string =>
  JSON.stringify({ svc: { projectKey: 'demo', deploy: { 'acme/web': { skipDeployVerification } } } });

test('a policy that cannot be logged is reported, and logged when the disk has space again', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.svc'));
  const file = join(home, '.svc/config.json');
  writeFileSync(file, proofOf(true));
  const machine = readMachine({}, home);
  mkdirSync(machine.dataDir, { recursive: true });
  const failures: unknown[] = [];
  const live = await openLiveConfig({
    machine,
    environment: {},
    folder: home,
    onFailure: (error) => void failures.push(error),
  });
  onTestFinished(live.stop);
  const disk = { isFull: true };
  const lines: EventDraft[] = [];
  let calls = 0;
  live.onChange(() => void (calls += 1));
  await live.start(async (draft) => {
    if (disk.isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    lines.push(draft);
  });
  expect(live.current().problems).toMatchObject([
    { severity: 'error', file: machine.eventsDir, message: expect.stringContaining('(ENOSPC)') },
  ]);
  writeFileSync(file, proofOf(false));
  await until(
    () => live.current().projects[0]?.policies.deploy['acme/web']?.skipDeployVerification === false,
  );
  expect(lines).toEqual([]);
  // Retried with every check, and reported in the daemon's log once.
  expect(failures).toHaveLength(1);

  const before = calls;
  disk.isFull = false;
  await until(() => calls > before);
  expect(live.current().problems).toEqual([]);
  expect(lines).toMatchObject([
    { detail: { project: home, deploy: { 'acme/web': { skipDeployVerification: false } } } },
  ]);
  expect(readFileSync(join(machine.dataDir, 'last-good-config.json'), 'utf8')).toContain('"value":false');
});
