// The code host and the issue tracker: what gh and the tracker's token are allowed to do. The code host's clock comes with
// its first answer.
import { runCommand } from '@svc/lib/process';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import type { DoctorTools } from '../../../kernel/check/check.ts';
import {
  type DoctorFinding,
  doctorFinding,
  type SetupFinding,
  setupFinding,
} from '../../../kernel/check/finding.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { hostTimeOf } from '../../codehost/api-answer.ts';
import { createGh } from '../../codehost/gh.ts';
import { checkGhLogin } from '../../codehost/gh-login.ts';
import { createHookApi } from '../../codehost/io/hooks.ts';
import { pollingReport } from '../../codehost/polling-report.ts';
import { type CodehostProblem, codehostProblemWords, passesByItself } from '../../codehost/problem.ts';
import type { DoctorProjects } from '../../configuration/checks/files.ts';
import { trackerPlace } from '../../feeds/judge-feeds.ts';
import { readMergeFacts } from '../../pull-requests/merge-facts.ts';
import { mergeFindings } from '../../pull-requests/merge-findings.ts';
import { openTracker, type TrackerMeans } from '../../tracker/io/open-tracker.ts';
import { TrackerError } from '../../tracker/io/tracker.ts';
import { providerOf, sharedPrefixes, type TrackerChoice, trackerOf } from '../../tracker/tracker-of.ts';

/** Each costs two API calls, and all have to answer in time. */
const MOST_REPOS = 8;
/** Time left to report a call that used all of its timeout. */
const SPARE_MS = 500;

export async function checkCodehostRights(
  terminal: Terminal,
  { configs }: DoctorProjects,
  tools: DoctorTools,
): Promise<DoctorFinding[]> {
  const watched = [...new Set(configs.flatMap(({ svc }) => svc.monitor.github.watchRepos))];
  if (watched.length === 0) return [];
  const timeoutMs = Math.max(tools.timeoutMs - SPARE_MS, 1);
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

  async function checkRepo(repo: string): Promise<DoctorFinding> {
    const read = await gh.request({ path: `repos/${repo}` });
    if (!read.ok) return unreadable(repo, read.problem);
    clockAheadMs ??= read.value.receivedAt - hostTimeOf(read.value);
    if (!wantsHooks) return doctorFinding('code-host', 'ok', `gh can read ${repo}`);
    const listed = await hooks.list(repo);
    if (listed.ok) return doctorFinding('code-host', 'ok', `gh can read ${repo} and manage its hooks`);
    const { why, remedy } = codehostProblemWords(listed.problem);
    return doctorFinding('code-host', 'warning', `gh cannot manage the hooks of ${repo}: ${why}`, { remedy });
  }

  const findings = await Promise.all(watched.slice(0, MOST_REPOS).map(checkRepo));
  const others = watched.length - findings.length;
  if (others > 0)
    findings.push(doctorFinding('code-host', 'ok', `${others} more repositories were not checked`));
  const { clock } = pollingReport({ watches: true, lastAt: null, problem: null, clockAheadMs });
  if (clock !== null) findings.push(doctorFinding('clock', 'broken', clock.why, { remedy: clock.remedy }));
  return findings;
}

function unreadable(repo: string, problem: CodehostProblem): DoctorFinding {
  const { why, remedy } = codehostProblemWords(problem);
  const grade = passesByItself(problem) ? 'warning' : 'broken';
  return doctorFinding('code-host', grade, `gh cannot read ${repo}: ${why}`, { remedy });
}

/** `isPolled`: the daemon asks the trackers too, and reports what fails. */
export async function checkTrackers(
  terminal: Terminal,
  { configs }: DoctorProjects,
  machine: Machine,
  tools: DoctorTools,
  { isPolled }: { isPolled: boolean },
): Promise<DoctorFinding[]> {
  const now = (): number => terminal.now().getTime();
  const timeoutMs = Math.max(tools.timeoutMs - SPARE_MS, 1);
  const { environment } = terminal;
  const means: TrackerMeans = {
    apiUrl: machine.trackerApiUrl,
    fetch: tools.fetch,
    clock: { now },
    timeoutMs,
    gh: () => createGh({ environment, run: tools.run, now, timeoutMs, listTimeoutMs: timeoutMs }),
  };
  const trackers = new Map<string, { team: string; chosen: TrackerChoice }>();
  for (const config of configs) {
    const chosen = trackerOf(config);
    const { teamKey, teamId } = config.svc.tracker;
    const team = chosen.provider === 'github' ? chosen.teamId : (teamKey ?? teamId);
    if (providerOf(config.svc.tracker) === 'github' || (team !== undefined && team !== null))
      trackers.set(JSON.stringify([team, chosen]), { team: team ?? '', chosen });
  }
  const shared = [...sharedPrefixes(configs)].map((prefix) =>
    doctorFinding(
      'tracker',
      'broken',
      `several projects have tickets like ${prefix}-1, so none of these is followed`,
      { remedy: 'In each project run: svc config set svc.project.ticketPrefix <PREFIX>' },
    ),
  );
  const checked = await Promise.all(
    [...trackers.values()].map(({ team, chosen }) =>
      checkTracker(team, chosen, means).catch((error: unknown) => {
        if (!(error instanceof TrackerError)) throw error;
        if (isPolled) return [];
        return doctorFinding('tracker', 'broken', `${trackerPlace(team)} cannot be read: ${error.message}`, {
          remedy: error.remedy ?? null,
        });
      }),
    ),
  );
  return [...shared, ...checked.flat()];
}

async function checkTracker(
  team: string,
  chosen: TrackerChoice,
  means: TrackerMeans,
): Promise<DoctorFinding> {
  if (chosen.provider === undefined) {
    const why = team === '' ? `${chosen.why}:` : `team ${team} has no API token:`;
    const { remedy } = chosen;
    return doctorFinding('tracker', 'warning', `${why} its tickets are not followed`, { remedy });
  }
  const isGithub = chosen.provider === 'github';
  const found = await openTracker(chosen, means).teamStates(team);
  const reader = isGithub ? 'gh can read the issues of' : 'the token can read team';
  if (found !== undefined) return doctorFinding('tracker', 'ok', `${reader} ${isGithub ? team : found.key}`);
  return isGithub
    ? doctorFinding('tracker', 'broken', `the code host has no repository ${team} that gh can read`, {
        remedy: 'Correct it: svc config set svc.repository.name <name>, or log in: gh auth login',
      })
    : doctorFinding('tracker', 'broken', `the tracker has no team ${team} that the token can read`, {
        remedy: 'Correct it: svc config set svc.tracker.teamKey <KEY>, then svc resolve-tracker-ids --force',
      });
}

/** For the setup check: whether gh is logged in. */
export async function checkLogin(terminal: Terminal): Promise<SetupFinding> {
  const login = await checkGhLogin({
    environment: terminal.environment,
    run: runCommand,
    now: () => terminal.now().getTime(),
    signal: terminal.interrupted,
  });
  if (login.ok) {
    const { account } = login.value;
    return setupFinding('code-host', 'ok', `gh is logged in${account === undefined ? '' : `: ${account}`}`);
  }
  const { why, remedy } = codehostProblemWords(login.problem);
  // The login cannot be checked now, which need not stop the work.
  if (passesByItself(login.problem))
    return setupFinding('code-host', 'warning', why, { remedy: 'Try again later: gh auth status' });
  return setupFinding('code-host', 'broken', why, { remedy });
}

/** For the setup check: whether the code host enforces what a merge needs. Nothing is changed there. */
export async function checkMergeSettings(terminal: Terminal, repo: string): Promise<SetupFinding[]> {
  const { environment, now } = terminal;
  const gh = createGh({ environment, run: runCommand, now: () => now().getTime() });
  const facts = await readMergeFacts(gh, repo);
  if (facts.ok) return mergeFindings(facts.value);
  const { why, remedy: lasting } = codehostProblemWords(facts.problem);
  const remedy = passesByItself(facts.problem) ? 'Try again later: svc check-project-setup' : lasting;
  return [
    setupFinding('merge-settings', 'warning', `${repo}: the merge settings cannot be read: ${why}`, {
      remedy,
    }),
  ];
}
