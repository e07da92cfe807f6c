// All checks of `svc doctor`: the running daemon by what it reports; files, programs and services directly.
import { messageOf } from '@svc/lib/errors';
import { createLimit } from '@svc/lib/limit';
import { runCommand } from '@svc/lib/process';
import { createFlights } from '@svc/lib/single-flight';
import { within } from '@svc/lib/timeout';
import { requestedBy } from '../../../cli/kit/daemon.ts';
import { type DaemonClient, daemonAt } from '../../../cli/kit/daemon-client.ts';
import { openSession, type Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import {
  type DoctorCheck,
  type DoctorResult,
  type DoctorTools,
  fixableBy,
  runTogether,
} from '../../../kernel/check/check.ts';
import {
  type CheckVerdict,
  checkVerdict,
  type DoctorFinding,
  type DoctorPart,
  doctorFinding,
  inDoctorOrder,
} from '../../../kernel/check/finding.ts';
import { diskSpaceOf } from '../../../kernel/disk/disk-space.ts';
import { Failure } from '../../../kernel/failure.ts';
import { thisProcess } from '../../../kernel/instance/control.ts';
import { notInstalled } from '../../agents/choice.ts';
import { askingChecks } from '../../checks.ts';
import {
  checkConfiguration,
  type DoctorProject,
  type DoctorProjects,
  loadDoctorProjects,
} from '../../configuration/checks/files.ts';
import { checkSecretFiles } from '../../configuration/checks/secrets.ts';
import { checkDaemon, checkVersion } from '../../monitor/checks.ts';
import { checkService, managerIfAny } from '../../service/verbs/service.ts';
import { checkSkills } from '../../skills/verbs.ts';
import {
  checkDatabase,
  checkDataFormat,
  checkDisk,
  checkHooks,
  checkSpool,
  checkWorktrees,
  writeSmallFile,
} from './machine.ts';
import { checkCodehostRights, checkTrackers } from './services.ts';

export const doctorTools: DoctorTools = {
  host: thisProcess,
  run: runCommand,
  fetch: (...request) => fetch(...request),
  diskSpace: diskSpaceOf,
  writeFile: writeSmallFile,
  timeoutMs: 10_000,
};

export async function runDoctor(
  terminal: Terminal,
  tools: DoctorTools = doctorTools,
): Promise<DoctorResult[]> {
  const session = openSession(terminal);
  const { machine } = session;
  const { timeoutMs } = tools;
  const projects = loadDoctorProjects(terminal, session);
  const { daemon, findings } = await checkDaemon(terminal, session, tools);
  const checks: DoctorCheck[] = [
    ...(daemon.state === 'running'
      ? daemonChecks(terminal, session, daemon.daemon.url, { timeoutMs, projects })
      : [
          {
            part: 'code-host' as const,
            run: async () => checkCodehostRights(terminal, await projects, tools),
          },
        ]),
    { part: 'daemon', run: () => checkInstalledService(terminal, session) },
    { part: 'configuration', run: async () => checkConfiguration(session, await projects) },
    { part: 'secrets', run: () => checkSecretFiles(machine) },
    { part: 'disk', run: () => checkDisk(machine, tools) },
    { part: 'database', run: () => checkDatabase(machine, tools) },
    { part: 'spool', run: () => checkSpool(machine) },
    {
      part: 'tracker',
      async run() {
        const isPolled = daemon.state === 'running';
        return checkTrackers(terminal, await projects, machine, tools, { isPolled });
      },
    },
    { part: 'worktrees', run: async () => checkWorktrees(terminal, session, await projects) },
    { part: 'hooks', run: () => checkHooks(terminal, session) },
    { part: 'version', run: async () => [await checkVersion(session), ...(await checkSkills(terminal))] },
    { part: 'version', run: async () => checkDataFormat(machine) },
  ];
  const unknown = daemon.state === 'running' ? [] : [unknownWhile(daemon.state)];
  return inDoctorOrder([...findings, ...unknown, ...(await runTogether(checks, timeoutMs))]);
}

export type DoctorReport = CheckVerdict & { findings: DoctorFinding[]; fixed: Fixed[] };
/** What `--fix` did about a finding, or why it failed. */
type Fixed = { part: DoctorPart; what: string; done: string | null; failed: string | null };

/** As `svc doctor --json` prints it. */
function doctorReport(results: readonly DoctorResult[], fixed: Fixed[] = []): DoctorReport {
  const findings = results.map(({ fix: _, ...finding }) => finding);
  return { ...checkVerdict(findings), findings, fixed };
}

/** Runs the fixes of the findings that `isWanted` names, then every check again: the report shows whether they worked. */
export async function fixAndReport(
  check: () => Promise<DoctorResult[]>,
  isWanted: (finding: DoctorFinding) => boolean,
): Promise<DoctorReport> {
  const first = await check();
  const fixed: Fixed[] = [];
  for (const { fix, ...finding } of first) {
    if (fix === undefined || !isWanted(finding)) continue;
    const { part, what } = finding;
    try {
      fixed.push({ part, what, done: await fix(), failed: null });
    } catch (error) {
      const remedy = error instanceof Failure && error.remedy !== undefined ? ` ${error.remedy}` : '';
      fixed.push({ part, what, done: null, failed: messageOf(error) + remedy });
    }
  }
  return doctorReport(fixed.length > 0 ? await check() : first, fixed);
}

type RunDoctor = (asked: { fix: readonly { part: string; what: string }[] }) => Promise<DoctorReport>;

/** For the daemon's route. The same requests share one report, and repairs run one after the other. */
export function createDoctorReports(terminal: Terminal, run: typeof runDoctor = runDoctor): RunDoctor {
  const flights = createFlights<DoctorReport>();
  const oneAtATime = createLimit(1);
  return ({ fix }) => {
    const isWanted = ({ part, what }: DoctorFinding): boolean =>
      fix.some((one) => one.part === part && one.what === what);
    const work = () => fixAndReport(() => run(terminal), isWanted);
    return flights(JSON.stringify(fix), fix.length === 0 ? work : () => oneAtATime(work));
  };
}

/** The service that runs the daemon, if one is installed. */
async function checkInstalledService(terminal: Terminal, session: Session): Promise<DoctorFinding[]> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? [] : checkService(manager);
}

/** Only the daemon can check these. */
const daemonParts: readonly DoctorPart[] = [
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

function daemonChecks(
  terminal: Terminal,
  { machine }: Session,
  url: string,
  { timeoutMs, projects }: { timeoutMs: number; projects: Promise<DoctorProjects> },
): DoctorCheck[] {
  const daemon = daemonAt(machine, url, timeoutMs);
  const fixes = (findings: readonly DoctorFinding[]): DoctorResult[] =>
    findings.map((finding) => {
      const repair = repairs[finding.part];
      return finding.fixable && repair ? fixableBy(finding, () => repair(daemonAt(machine, url))) : finding;
    });
  const tried = daemon.post('/api/doctor', { body: requestedBy(terminal) });
  return [
    { part: 'log', run: async () => fixes((await tried).findings) },
    {
      part: 'state',
      async run() {
        // It reads its files again first; a part that does not answer must not hide the others.
        await within(tried.catch(ignored), timeoutMs / 2, ignored);
        const { findings, configuration } = await daemon.get('/api/health');
        return [...fixes(findings), ...notServed(configuration.folders, await projects)];
      },
    },
    { part: 'configuration', run: async () => checkAgentPrograms(daemon, (await projects).projects) },
    ...askingChecks.map(({ part, run }) => ({ part, run: () => run(daemon) })),
  ];
}

const ignored = (): void => undefined;

/** Agents that a file configures: those whose programs the daemon does not find, and those without a login. */
async function checkAgentPrograms(
  daemon: DaemonClient,
  projects: readonly DoctorProject[],
): Promise<DoctorFinding[]> {
  const missing = new Map<string, DoctorFinding>();
  for (const { folder: project, config } of projects) {
    const configured = Object.keys(config.svc.orchestration.agents);
    if (configured.length === 0) continue;
    const { agents } = await daemon.get('/api/agents', { query: { project } }).catch((error: unknown) => {
      // Reported as a project that is not served.
      if (error instanceof Failure && error.code === 'unknown-project') return { agents: [] };
      throw error;
    });
    for (const { name, program, ...agent } of agents.filter((one) => configured.includes(one.name))) {
      const { problem, remedy } =
        program === null ? notInstalled({ name, ...agent }) : await askLogin(daemon, project, name);
      if (problem === null) continue;
      const what = problem.replace(/\.$/, '');
      missing.set(problem, doctorFinding('configuration', 'warning', what, { remedy: remedy ?? '' }));
    }
  }
  return [...missing.values()];
}

/** Whatever else is wrong with it shows when it is checked. */
async function askLogin(daemon: DaemonClient, project: string, name: string) {
  const { login, problem, remedy } = await daemon.post('/api/agents/check', { body: { project, name } });
  return login.state === 'no' ? { problem, remedy } : { problem: null, remedy: null };
}

function notServed(folders: readonly string[], { projects }: DoctorProjects): DoctorFinding[] {
  return projects
    .filter(({ folder }) => !folders.includes(folder))
    .map(({ folder }) =>
      doctorFinding('configuration', 'warning', `the daemon does not serve ${folder}`, {
        evidence: 'svc.projects of the global file does not list it',
        remedy: `Register it: cd '${folder}' && svc check-project-setup`,
      }),
    );
}

function unknownWhile(state: string): DoctorFinding {
  const what = `unknown while the daemon is ${state === 'not-answering' ? 'not answering' : state}: ${daemonParts.join(', ')}`;
  return doctorFinding('log', 'unknown', what, { remedy: 'Run this again when it runs: svc doctor' });
}

/** The daemon's own repairs of what it reports as fixable: each can run at any time, and repeatedly. */
const repairs: Partial<Record<DoctorPart, (daemon: DaemonClient) => Promise<string>>> = {
  index: reindex,
  'code-host': pollCodehost,
};

async function pollCodehost(daemon: DaemonClient): Promise<string> {
  const { polled } = await daemon.post('/api/feeds/check', { body: { repair: true } });
  const codehost = polled.find(({ feed }) => feed === 'codehost');
  if (codehost?.state === 'polled') return `polled the code host: ${codehost.checked} checked`;
  const { why, remedy } = codehost ?? {};
  throw new Failure('backend-failed', why ?? 'the code host was not polled', remedy ?? undefined);
}

async function reindex(daemon: DaemonClient): Promise<string> {
  const { lines } = await daemon.post('/api/events/reindex');
  return `rebuilt the index: ${lines} lines`;
}
