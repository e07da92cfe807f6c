// One daemon serves all projects of the machine: it watches the workers in the worktrees of each, and applies the
// settings of each project.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import type { BoardView } from '../src/features/board/api.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { claimInstance } from '../src/kernel/instance/instance.ts';
import { startInProcess } from './in-process-daemon.ts';

test('one daemon watches the worktrees of all projects, each by its own settings', async () => {
  const root = temporaryFolder();
  const first = testRepository(join(root, 'one'));
  const second = testRepository(join(root, 'two'));
  const { home, environment } = first;
  const projects = [
    { ...first, key: 'alpha', prefix: 'AAA', repo: 'acme/alpha', timeoutSec: 600 },
    { ...second, key: 'beta', prefix: 'BBB', repo: 'acme/beta', timeoutSec: 1200 },
  ];
  for (const { folder, write, git, key, prefix, repo, timeoutSec } of projects) {
    const deploy = { [repo]: { skipDeployVerification: false, timeoutSec } };
    const svc = { projectKey: key, project: { ticketPrefix: prefix }, worktree: { setup: [] }, deploy };
    write(folder, '.svc/config.json', JSON.stringify({ svc }));
    git(folder, 'add', '.');
    git(folder, 'commit', '-q', '-m', 'config');
  }
  const listed = projects.map(({ folder }) => folder);
  first.write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: listed } }));
  const daemon = await startInProcess({ home, environment });

  for (const { folder, prefix, repo } of projects) {
    const terminal = { ...testTerminal(), home, folder, environment };
    expect(await runCommandLine(terminal, ['worktree', 'create', `${prefix}-1`]), terminal.complained()).toBe(
      0,
    );
    writeSignal(home, {
      ticket: `${prefix}-1`,
      orchestrator: `run-${prefix}`,
      repo,
      worktreePath: terminal.printed(),
    });
  }

  const workers = async () => ((await daemon.get('/api/board')).body as unknown as BoardView).workers;
  await until(async () => (await workers()).length === 2);
  const seen = (await workers()).toSorted((a, b) => a.ticket.localeCompare(b.ticket));
  expect(seen).toMatchObject(
    projects.map(({ prefix, repo, timeoutSec }) => ({
      ticket: `${prefix}-1`,
      orchestrator: `run-${prefix}`,
      repo,
      status: 'implementing',
      policy: { skipDeployVerification: false, timeoutSec },
    })),
  );
  expect((await daemon.get('/api/health')).body).toMatchObject({
    configuration: { folders: expect.arrayContaining(listed), problems: [] },
  });
  expect(claimInstance(daemon.machine.dataDir)).toBeUndefined();
});

function writeSignal(
  home: string,
  given: { ticket: string; orchestrator: string; [more: string]: string },
): void {
  const file = join(home, 'svc/runs', given.orchestrator, 'workers', `${given.ticket}.json`);
  const now = new Date().toISOString();
  const signal = {
    workerName: given.ticket,
    status: 'implementing',
    phase: 1,
    startedAt: now,
    updatedAt: now,
    ...given,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(dirname(file), '.new'), JSON.stringify(signal));
  renameSync(join(dirname(file), '.new'), file);
}
