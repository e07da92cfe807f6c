// Every check, side by side, each within its own time.
import { type DoctorFinding, doctorFinding, inDoctorOrder } from '@svc/core';
import { runCommand } from '@svc/lib/process';
import { thisProcess } from '../../control/control.ts';
import { checkService } from '../service/installed.ts';
import { managerIfAny } from '../service/this-machine.ts';
import { openSession, type Session } from '../session.ts';
import { checkVersion } from '../setup-checks/version.ts';
import type { Terminal } from '../terminal.ts';
import { daemonChecks, nobodyCanTell } from './ask-daemon.ts';
import { type Check, type DoctorTools, type Found, lookWithin } from './check.ts';
import { checkCodehostRights } from './codehost.ts';
import { checkConfiguration } from './configuration.ts';
import { lookForDaemon } from './daemon.ts';
import { checkDatabase } from './database.ts';
import { checkDisk, checkSpool, freeBytesOf, writeSmallFile } from './machine.ts';
import { loadDoctorProjects } from './projects.ts';
import { checkSecretFiles } from './secrets.ts';
import { checkTrackerTokens } from './tracker.ts';
import { checkWorktrees } from './worktrees.ts';

// The service that runs the daemon, where one is installed.

async function checkInstalledService(terminal: Terminal, session: Session): Promise<DoctorFinding[]> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? [] : checkService(manager);
}

// Version drift, in the words of the setup check.

async function checkDrift(session: Session): Promise<DoctorFinding[]> {
  const { level, found, remedy = null } = await checkVersion(session);
  return [doctorFinding('version', level === 'ok' ? 'ok' : 'warning', found, { remedy })];
}

export const doctorTools: DoctorTools = {
  host: thisProcess,
  run: runCommand,
  fetch: (...request) => fetch(...request),
  freeBytes: freeBytesOf,
  writeFile: writeSmallFile,
  patienceMs: 10_000,
};

export async function examine(terminal: Terminal, tools: DoctorTools): Promise<Found[]> {
  const session = openSession(terminal);
  const { machine } = session;
  const { patienceMs } = tools;
  const projects = loadDoctorProjects(terminal, session);
  const { daemon, findings } = await lookForDaemon(terminal, session, tools);
  const checks: Check[] = [
    // First: where it and a check here say the same, its remedy fits better.
    ...(daemon.state === 'running'
      ? daemonChecks(terminal, session, daemon.daemon.url, { patienceMs, projects })
      : []),
    { part: 'daemon', look: () => checkInstalledService(terminal, session) },
    { part: 'configuration', look: async () => checkConfiguration(session, await projects) },
    { part: 'secrets', look: () => checkSecretFiles(machine) },
    { part: 'disk', look: () => checkDisk(machine, tools) },
    { part: 'database', look: () => checkDatabase(machine, tools) },
    { part: 'spool', look: () => checkSpool(machine) },
    { part: 'code-host', look: async () => checkCodehostRights(terminal, await projects, tools) },
    { part: 'tracker', look: async () => checkTrackerTokens(await projects, machine, tools, terminal.now) },
    { part: 'worktrees', look: async () => checkWorktrees(terminal, session, await projects) },
    { part: 'version', look: () => checkDrift(session) },
  ];
  const looked = await Promise.all(checks.map((check) => lookWithin(check, patienceMs)));
  const untold = daemon.state === 'running' ? [] : [nobodyCanTell(daemon.state)];
  return inDoctorOrder([...findings, ...untold, ...looked.flat()]);
}
