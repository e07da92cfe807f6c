// Findings about the feeds that the daemon reports (`GET /api/feeds`). A feed that is not set up is a choice; one that
// is set up but does not deliver is a fault.
import { type CheckGrade, type DoctorFinding, doctorFinding } from '../../kernel/check/finding.ts';
import type { FeedsReport } from './api.ts';

/** The feed is not set up, which is a choice; every other reason is a mistake. */
export const NO_CHANNEL = 'no relay channel is configured';

const POLLING_ONLY = 'polling-only';

type Of<Key extends keyof FeedsReport> = FeedsReport[Key] extends readonly (infer One)[]
  ? One
  : FeedsReport[Key];
type Troubles = 'code' | 'why' | 'remedy';

/** The fields that are judged. */
export type ReportedFeeds = {
  tunnels: Pick<
    Of<'tunnels'>,
    Troubles | 'feeds' | 'grade' | 'since' | 'lastPingAt' | 'lastMessageAt' | 'unauthorisedLastHour'
  >[];
  repos: Pick<Of<'repos'>, Troubles | 'repo' | 'by' | 'since'>[];
  codehost: Pick<Of<'codehost'>, Troubles | 'state' | 'lastAt' | 'clock'>;
  tracker: Pick<Of<'tracker'>, 'state' | 'why' | 'remedy'> & {
    teams: Pick<Of<'tracker'>['teams'][number], 'team' | 'error' | 'remedy' | 'lastAt'>[];
  };
};

const gradeOf: Readonly<Record<string, CheckGrade>> = {
  live: 'ok',
  connecting: 'warning',
  late: 'warning',
  degraded: 'broken',
  blind: 'broken',
};

export function judgeFeeds(report: ReportedFeeds): DoctorFinding[] {
  return [
    ...report.tunnels.map((tunnel) => judgeTunnel(tunnel, needsChannel(report))),
    ...judgeRepos(report),
    ...judgeCodehostPolling(report.codehost),
    ...judgeTrackerPolling(report.tracker),
  ];
}

/** Whether a repository is watched that the user wants to hear of at once. */
function needsChannel({ codehost, repos }: ReportedFeeds): boolean {
  const isPollingChosen = repos.length > 0 && repos.every(({ code }) => code === POLLING_ONLY);
  return codehost.state !== 'disabled' && !isPollingChosen;
}

function judgeTunnel(tunnel: ReportedFeeds['tunnels'][number], needed: boolean): DoctorFinding {
  const { grade, why, remedy } = tunnel;
  const since = tunnel.since === null ? null : new Date(tunnel.since).toISOString();
  const name = tunnel.feeds.join(' and ');
  if (grade === 'disabled') {
    const isChoice = why === NO_CHANNEL && !(needed && tunnel.feeds.includes('codehost'));
    return doctorFinding('feeds', isChoice ? 'ok' : 'warning', `the ${name} feed is off: ${why ?? ''}`, {
      remedy,
    });
  }
  const evidence = evidenceOf(tunnel);
  if (grade === 'live') return doctorFinding('feeds', 'ok', `the ${name} feed is live`, { evidence });
  if (grade === 'connecting' && why === null)
    return doctorFinding('feeds', 'unknown', `the ${name} feed is connecting`, {
      remedy: 'Check again: svc doctor',
    });
  const words = `the ${name} feed is ${grade}${why === null ? '' : `: ${why}`}`;
  return doctorFinding('feeds', gradeOf[grade] ?? 'warning', words, { since, evidence, remedy });
}

function evidenceOf(tunnel: ReportedFeeds['tunnels'][number]): string {
  return [
    `last relay ping ${timeText(tunnel.lastPingAt)}`,
    `last delivery ${timeText(tunnel.lastMessageAt)}`,
    ...refusedWords(tunnel.unauthorisedLastHour),
  ].join(', ');
}

/** Nothing when none was refused. */
export function refusedWords({
  exact,
  reserialised,
}: ReportedFeeds['tunnels'][number]['unauthorisedLastHour']): string[] {
  const rewritten = reserialised === 0 ? '' : ` (${reserialised} with a body that the relay rewrote)`;
  const count = exact + reserialised;
  return count === 0 ? [] : [`wrong signatures in the last hour: ${count}${rewritten}`];
}

/** `2026-01-02 03:04:05 UTC` */
function timeText(at: number | string | null): string {
  return at === null ? 'never' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const gradeOfHold: Readonly<Record<string, CheckGrade>> = { [POLLING_ONLY]: 'ok', 'repo-gone': 'broken' };

/** A problem that affects every repository is reported once, by the polling. */
function judgeRepos({ repos, codehost, tunnels }: ReportedFeeds): DoctorFinding[] {
  const isOff = tunnels.some(({ feeds, grade }) => feeds.includes('codehost') && grade === 'disabled');
  const hooked = repos.filter(({ by }) => by === 'webhook').map(({ repo }) => repo);
  const polled = repos
    .filter(({ by, why, code }) => by !== 'webhook' && why !== null && !(isOff && code === 'not-configured'))
    .filter(({ why }) => codehost.state !== 'failing' || why !== codehost.why)
    .map(({ repo, since, why, remedy, code }) =>
      doctorFinding(
        'code-host',
        gradeOfHold[code ?? ''] ?? 'warning',
        `${repo} has no hook and is polled: ${why}`,
        { since, evidence: `last poll ${timeText(codehost.lastAt)}`, remedy },
      ),
    );
  if (hooked.length === 0) return polled;
  return [
    ...polled,
    doctorFinding('code-host', 'ok', 'repositories report by their webhook', { evidence: hooked.join(', ') }),
  ];
}

function judgeCodehostPolling({ state, code, why, remedy, lastAt, clock }: ReportedFeeds['codehost']) {
  const found: DoctorFinding[] = [];
  const evidence = `last poll ${timeText(lastAt)}`;
  if (state === 'disabled')
    found.push(doctorFinding('code-host', 'ok', `the code host is not polled: ${why ?? ''}`, { remedy }));
  else if (state === 'failing')
    found.push(
      doctorFinding('code-host', 'broken', `the code host cannot be polled: ${why ?? ''}`, {
        evidence,
        remedy,
        // Asking again now is all that can be done, and may succeed.
        fixable: code === 'unavailable',
      }),
    );
  else found.push(doctorFinding('code-host', 'ok', 'the code host is polled', { evidence }));
  if (clock?.why) found.push(doctorFinding('clock', 'broken', clock.why, { remedy: clock.remedy }));
  return found;
}

/** A team by its key, a repository whose issues are tickets by its name. */
export function trackerPlace(team: string): string {
  return `${team.includes('/') ? 'repository' : 'team'} ${team}`;
}

function judgeTrackerPolling({ state, why, remedy, teams }: ReportedFeeds['tracker']): DoctorFinding[] {
  if (state === 'disabled')
    return [
      doctorFinding('tracker', 'ok', `the issue tracker is not polled: ${why ?? ''}`, {
        remedy: remedy ?? null,
      }),
    ];
  return teams.map(({ team, error, remedy: fix, lastAt }) => {
    const evidence = `last poll ${timeText(lastAt)}`;
    if (error === null)
      return doctorFinding('tracker', 'ok', `${trackerPlace(team)} is polled`, { evidence });
    return doctorFinding('tracker', 'broken', `${trackerPlace(team)} cannot be polled: ${error}`, {
      evidence,
      remedy: fix,
    });
  });
}
