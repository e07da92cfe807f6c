// Every check, side by side, each within its own time.
import { inDoctorOrder } from '@svc/core';
import { runCommand } from '../../codehost/run-command.ts';
import { thisProcess } from '../../daemon/control-host.ts';
import { openSession } from '../session.ts';
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
import { checkInstalledService } from './service.ts';
import { checkTrackerTokens } from './tracker.ts';
import { checkDrift } from './version.ts';
import { checkWorktrees } from './worktrees.ts';

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
