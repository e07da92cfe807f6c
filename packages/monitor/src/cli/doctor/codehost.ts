// gh, by what it may do: log in, read every watched repository, and manage its hooks where hooks are wanted. The
// code host's own clock comes with the first answer.
import {
  type CodehostProblem,
  codehostProblemWords,
  type DoctorFinding,
  doctorFinding,
  hostTimeOf,
  passesByItself,
} from '@svc/core';
import { createGh } from '../../codehost/gh.ts';
import { createHookApi } from '../../codehost/hooks.ts';
import { pollingReport } from '../../codehost/polling-report.ts';
import type { Terminal } from '../terminal.ts';
import type { DoctorTools } from './check.ts';
import type { DoctorProjects } from './projects.ts';

/** Each costs two calls of the quota, and all have to answer in time. */
const MOST_REPOS = 8;
/** A moment for what is to be said about a call that took all its time. */
const SPARE_MS = 500;

export async function checkCodehostRights(
  terminal: Terminal,
  { configs }: DoctorProjects,
  tools: DoctorTools,
): Promise<DoctorFinding[]> {
  const watched = [...new Set(configs.flatMap(({ svc }) => svc.monitor.github.watchRepos))];
  if (watched.length === 0) return [];
  const timeoutMs = Math.max(tools.patienceMs - SPARE_MS, 1);
  const gh = createGh({
    environment: terminal.environment,
    run: tools.run,
    now: () => terminal.now().getTime(),
    timeoutMs,
    listTimeoutMs: timeoutMs,
  });
  const hooks = createHookApi(gh);
  const wantsHooks = configs.some(({ svc }) => svc.monitor.github.smeeChannel !== undefined);
  let clockAheadMs: number | null = null;

  async function look(repo: string): Promise<DoctorFinding> {
    const read = await gh.request({ path: `repos/${repo}` });
    if (!read.ok) return unreadable(repo, read.problem);
    clockAheadMs ??= read.value.receivedAt - hostTimeOf(read.value);
    if (!wantsHooks) return doctorFinding('code-host', 'ok', `gh can read ${repo}`);
    const listed = await hooks.list(repo);
    if (listed.ok) return doctorFinding('code-host', 'ok', `gh can read ${repo} and manage its hooks`);
    const { why, remedy } = codehostProblemWords(listed.problem);
    return doctorFinding('code-host', 'warning', `${repo} has no hook and is polled: ${why}`, { remedy });
  }

  const findings = await Promise.all(watched.slice(0, MOST_REPOS).map(look));
  const others = watched.length - findings.length;
  if (others > 0)
    findings.push(doctorFinding('code-host', 'ok', `${others} more repositories were not looked at`));
  const { clock } = pollingReport({ watches: true, lastAt: null, problem: null, clockAheadMs });
  if (clock !== null) findings.push(doctorFinding('clock', 'broken', clock.why, { remedy: clock.remedy }));
  return findings;
}

/** In the words of the daemon, so that what both find is told once. */
function unreadable(repo: string, problem: CodehostProblem): DoctorFinding {
  const told: CodehostProblem = problem.kind === 'not-found' ? { ...problem, kind: 'repo-gone' } : problem;
  const { why, remedy } = codehostProblemWords(told);
  if (told.kind === 'repo-gone')
    return doctorFinding('code-host', 'broken', `${repo} has no hook and is polled: ${why}`, { remedy });
  const grade = passesByItself(told) ? 'warning' : 'broken';
  return doctorFinding('code-host', grade, `the code host cannot be asked: ${why}`, { remedy });
}
