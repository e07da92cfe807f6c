// What the running daemon says of its parts, and what comes of its own try; without it, that nobody can tell.
import {
  type DoctorFinding,
  type DoctorPart,
  doctorFinding,
  judgeFeeds,
  judgeHealth,
  judgeSelfCheck,
  type ReportedHealth,
} from '@svc/core';
import { type DaemonClient, daemonAt } from '../daemon-client.ts';
import { type Session, speaker } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { type Check, type Found, fixableBy } from './check.ts';
import type { DoctorProjects } from './projects.ts';

/** Nobody but the daemon can tell. */
const itsParts: readonly DoctorPart[] = [
  'log',
  'index',
  'state',
  'outbox',
  'signals',
  'receiver',
  'feeds',
  'providers',
  'telemetry',
];

export function daemonChecks(
  terminal: Terminal,
  { machine }: Session,
  url: string,
  { patienceMs, projects }: { patienceMs: number; projects: Promise<DoctorProjects> },
): Check[] {
  const daemon = daemonAt(machine, url, patienceMs);
  const fixes = (findings: readonly DoctorFinding[]): Found[] =>
    findings.map((finding) =>
      finding.fixable ? fixableBy(finding, () => reindex(daemonAt(machine, url))) : finding,
    );
  return [
    {
      part: 'state',
      async look() {
        const health = await daemon.get('/api/health');
        const known = await projects;
        return [...fixes(judgeHealth(elsewhere(health, known))), ...notServed(health, known)];
      },
    },
    {
      part: 'feeds',
      look: async () => judgeFeeds(await daemon.get('/api/feeds')),
    },
    {
      part: 'log',
      look: async () => fixes(judgeSelfCheck(await daemon.post('/api/doctor', { body: speaker(terminal) }))),
    },
  ];
}

type ServedFolders = { configuration?: { folders?: readonly string[] } };

/** What is wrong in files that were read here too is reported by the check of those files: it is newer. */
function elsewhere(health: ReportedHealth, { files }: DoctorProjects): ReportedHealth {
  const problems = (health.configuration?.problems ?? []).filter(({ file }) => !files.includes(file));
  return { ...health, configuration: { problems } };
}

function notServed({ configuration }: ServedFolders, { projects }: DoctorProjects): DoctorFinding[] {
  const { folders } = configuration ?? {};
  if (folders === undefined) return [];
  return projects
    .filter(({ folder }) => !folders.includes(folder))
    .map(({ folder }) =>
      doctorFinding('configuration', 'warning', `the daemon does not serve ${folder}`, {
        evidence: 'svc.projects of the global file does not list it',
        remedy: `Register it: cd '${folder}' && check-project-setup.sh`,
      }),
    );
}

export function nobodyCanTell(state: string): DoctorFinding {
  const words = `not known while the daemon is ${state === 'not-answering' ? 'not answering' : state}: ${itsParts.join(', ')}`;
  return doctorFinding('log', 'unknown', words, { remedy: 'Run this again when it runs: svc doctor' });
}

async function reindex(daemon: DaemonClient): Promise<string> {
  const { lines } = await daemon.post('/api/events/reindex');
  return `built the index anew: ${lines} lines`;
}
