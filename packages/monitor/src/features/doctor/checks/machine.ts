// The disk of the data root: free space, write access, rejected facts of helpers, and the database.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { isThere, namesIn, stat, writeNewFile } from '@svc/lib/paths';
import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { type DoctorResult, type DoctorTools, fixableBy } from '../../../kernel/check/check.ts';
import { type DoctorFinding, doctorFinding } from '../../../kernel/check/finding.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { refuseNewerData } from '../../../kernel/disk/data-format.ts';
import { filesRemedy, judgeDisk, spaceRemedy } from '../../../kernel/disk/judge-disk.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { DoctorProject, DoctorProjects } from '../../configuration/checks/files.ts';
import { hookedAgents } from '../../sessions/hook-event.ts';
import { hookScriptProblem } from '../../sessions/io/script.ts';
import { hooksProblem, installCommand, readHookSettings } from '../../sessions/io/settings.ts';
import { isLost } from '../../worktrees/io/inspect.ts';
import type { ListedWorktree, Worktrees } from '../../worktrees/io/worktrees.ts';
import { openWorktrees } from '../../worktrees/verbs/open-worktrees.ts';

export async function checkDisk(
  machine: Machine,
  { diskSpace, writeFile: write }: DoctorTools,
): Promise<DoctorFinding[]> {
  const { dataDir, eventsDir, runsDir, databaseFile } = machine;
  const byDisk = new Map<number, string>();
  const written: DoctorFinding[] = [];
  for (const folder of new Set([dataDir, eventsDir, runsDir, dirname(databaseFile)])) {
    // The daemon creates a missing folder.
    const stats = await ifPresent(stat(folder));
    if (stats === undefined) continue;
    if (!byDisk.has(stats.dev)) byDisk.set(stats.dev, folder);
    const problem = await cannotWrite(folder, write, diskSpace);
    if (problem !== undefined)
      written.push(doctorFinding('disk', 'broken', `${folder} cannot be written`, problem));
  }
  const space = await Promise.all(
    [...byDisk.values()].map(async (folder) => judgeDisk(folder, await diskSpace(folder))),
  );
  return [...written, ...space];
}

export function writeSmallFile(path: string): Promise<void> {
  return writeNewFile(path, 'written by svc doctor\n');
}

export async function checkSpool({ spoolDir }: Machine): Promise<DoctorFinding[]> {
  const folder = join(spoolDir, 'rejected');
  const names = await namesIn(folder);
  if (names.length === 0) return [doctorFinding('spool', 'ok', 'nothing was rejected')];
  return [
    doctorFinding('spool', 'warning', 'some reports from helper scripts could not be read', {
      evidence: `${names.length} in ${folder}`,
      remedy: `Look at them, then remove them: ls '${folder}'`,
    }),
  ];
}

async function cannotWrite(
  folder: string,
  write: DoctorTools['writeFile'],
  diskSpace: DoctorTools['diskSpace'],
): Promise<{ evidence: string; remedy: string } | undefined> {
  const file = join(folder, `.doctor-${randomUUID()}`);
  try {
    await write(file);
    return undefined;
  } catch (error) {
    const isFull = ['ENOSPC', 'EDQUOT'].includes(systemErrorCode(error) ?? '');
    const { freeFiles } = isFull ? await diskSpace(folder) : { freeFiles: null };
    return {
      evidence: messageOf(error),
      remedy: isFull
        ? (freeFiles === 0 ? filesRemedy : spaceRemedy)(folder)
        : `Check it: ls -ld '${folder}'; you must own it, with mode 700`,
    };
  } finally {
    // On a full disk the file may exist but be empty.
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** Whether this svc understands the data. */
export function checkDataFormat({ dataDir }: Machine): DoctorFinding[] {
  try {
    refuseNewerData(dataDir);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message: evidence, remedy = null } = error;
    return [doctorFinding('version', 'broken', 'this svc cannot use the data folder', { evidence, remedy })];
  }
}

const MAX_BYTES = 64 * 1024;
/** In its own process: the check cannot be interrupted, only killed. */
const SCRIPT = `
const { DatabaseSync } = require('node:sqlite');
try {
  const database = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 2000 });
  const rows = database.prepare('PRAGMA quick_check(3)').all().map((row) => Object.values(row)[0]);
  console.log(JSON.stringify({ problems: rows }));
} catch (error) {
  console.log(JSON.stringify({ problems: [error.message] }));
}`;

export async function checkDatabase({ databaseFile }: Machine, tools: DoctorTools): Promise<DoctorFinding[]> {
  if (!(await isThere(databaseFile))) return [doctorFinding('database', 'ok', 'there is no database yet')];
  const end = await tools.run({
    file: process.execPath,
    args: ['--no-warnings', '-e', SCRIPT, databaseFile],
    environment: {},
    timeoutMs: tools.timeoutMs,
    maxBytes: MAX_BYTES,
  });
  if (end.ended !== 'exit' || end.exitCode !== 0)
    return [
      doctorFinding('database', 'unknown', 'the database could not be checked', {
        evidence: end.ended === 'timeout' ? `it takes longer than ${tools.timeoutMs / 1000} s` : end.ended,
        remedy: `Check it by hand: sqlite3 '${databaseFile}' 'PRAGMA quick_check'`,
      }),
    ];
  const { problems } = JSON.parse(end.stdout) as { problems: string[] };
  if (problems.length === 1 && problems[0] === 'ok')
    return [doctorFinding('database', 'ok', 'the database is intact')];
  return [
    doctorFinding('database', 'broken', `the database is damaged: ${databaseFile}`, {
      evidence: problems.join('; ').slice(0, 300),
      remedy: 'Run: svc monitor restart. It sets the file aside and rebuilds the index from the log',
    }),
  ];
}

// Hooks of svc in the settings of agents: whether they can still report.

export async function checkHooks(
  { environment, home }: Terminal,
  { machine }: Session,
): Promise<DoctorFinding[]> {
  const { dataDir } = machine;
  const script = await hookScriptProblem(machine);
  const findings: DoctorFinding[] = [];
  for (const agent of hookedAgents) {
    const settings = await readHookSettings(agent, { dataDir, home, environment }).catch((error: unknown) => {
      if (error instanceof Failure) return error;
      throw error;
    });
    if (settings instanceof Failure) {
      const what = `the hooks of ${agent} could not be checked`;
      const { message: evidence, remedy = null } = settings;
      findings.push(doctorFinding('hooks', 'unknown', what, { evidence, remedy }));
      continue;
    }
    const problem = hooksProblem(settings, script);
    if (problem === undefined) continue;
    const remedy = `Run: ${installCommand(settings)}`;
    findings.push(
      doctorFinding('hooks', 'warning', `${agent} does not report to svc`, { evidence: problem, remedy }),
    );
  }
  return findings.length > 0 ? findings : [doctorFinding('hooks', 'ok', 'no hook is outdated')];
}

// Leftover worktrees: partly created, partly removed, or without their folder. One that holds no work may be removed.

const leftoverStates: readonly ListedWorktree['state'][] = [
  'partly created',
  'partly removed',
  'folder missing',
  'unknown to git',
];

export async function checkWorktrees(
  terminal: Terminal,
  session: Session,
  { projects }: DoctorProjects,
): Promise<DoctorResult[]> {
  const found = await Promise.all(projects.map((project) => checkProject(terminal, session, project)));
  const findings = found.flat();
  return findings.length > 0 ? findings : [doctorFinding('worktrees', 'ok', 'no leftover worktrees')];
}

async function checkProject(
  terminal: Terminal,
  session: Session,
  { folder, config }: DoctorProject,
): Promise<DoctorResult[]> {
  const worktrees = openWorktrees(terminal, session, { folder, config });
  try {
    const leftover = (await worktrees.list()).filter(({ state }) => leftoverStates.includes(state));
    return await Promise.all(leftover.map((one) => judge(terminal, worktrees, folder, one)));
  } catch (error) {
    // A project that is not a repository has no worktrees.
    if (error instanceof Failure && error.code === 'not-configured') return [];
    throw error;
  }
}

async function judge(
  terminal: Terminal,
  worktrees: Worktrees,
  folder: string,
  { name, path, state }: ListedWorktree,
): Promise<DoctorResult> {
  const finding: DoctorFinding = doctorFinding('worktrees', 'warning', `worktree ${name} is ${state}`, {
    evidence: path,
    remedy: `Run: cd '${folder}' && svc worktree remove ${name}`,
  });
  if (!state.startsWith('partly')) return finding;
  if (isLost((await worktrees.inspect(name)).losses)) return finding;
  return fixableBy(finding, async () => {
    // Without force, so it fails if work has appeared meanwhile.
    await worktrees.remove(name, { currentFolder: terminal.folder });
    return `removed the worktree ${name}, which was ${state} and empty`;
  });
}
