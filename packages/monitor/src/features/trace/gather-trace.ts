// The events of a ticket's trace, found by the index: those that name the ticket, then those of its pull requests, then
// those of the commits that these name (checks and deployments). The newest, up to a limit.
import type { EventLine } from '../../kernel/log/event-line.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';
import type { Subject } from '../tickets/subject.ts';
import type { Trace } from './api.ts';
import { traceOf } from './trace.ts';

const MOST_LINES = 5_000;
const MOST_PULL_REQUESTS = 10;
const MOST_COMMITS = 50;

export async function gatherTrace({
  log,
  ticket,
  orchestrator,
  subject,
  now,
}: {
  log: Pick<EventLog, 'list'>;
  ticket: string;
  /** The requested run; otherwise the run of the newest worker. */
  orchestrator: string | undefined;
  /** What the board knows about the ticket, if it is still there. */
  subject: Subject | undefined;
  now: number;
}): Promise<Trace> {
  const found = new Map<number, EventLine>();
  let cut = false;
  async function read(query: Parameters<EventLog['list']>[0]): Promise<EventLine[]> {
    const { entries, next } = await log.list({ ...query, limit: MOST_LINES, order: 'newest-first' });
    cut ||= next !== null;
    for (const { line } of entries) found.set(line.seq, line);
    return entries.map(({ line }) => line);
  }

  const name = subject?.ticket ?? ticket;
  const run = orchestrator ?? subject?.worker?.orchestrator ?? null;
  const named = await read({ ticket: name });
  if (name !== name.toUpperCase()) named.push(...(await read({ ticket: name.toUpperCase() })));
  const pullRequests = pullRequestsOf(subject, named);
  for (const { repo, number } of pullRequests) await read({ repo, pr: number });
  const commits = commitsOf(subject, pullRequests, [...found.values()]);
  for (const sha of commits) await read({ sha });

  const lines = [...found.values()].toSorted((a, b) => a.seq - b.seq);
  const newest = lines.slice(-MOST_LINES);
  return traceOf({ ticket: name, orchestrator: run, pullRequests, commits }, newest, {
    now,
    cut: cut || lines.length > MOST_LINES,
  });
}

type PullRequestName = { repo: string; number: number };

/** The worker's own pull request; if the board knows none, those that name the ticket. */
function pullRequestsOf(subject: Subject | undefined, named: readonly EventLine[]): PullRequestName[] {
  const { pullRequest = null, worker = null } = subject ?? {};
  if (pullRequest !== null) return [{ repo: pullRequest.repo, number: pullRequest.number }];
  if (worker !== null && worker.pr !== null && worker.repo !== null)
    return [{ repo: worker.repo, number: worker.pr.number }];
  const found = new Map<string, PullRequestName>();
  for (const { scope } of named)
    if (scope.repo !== undefined && scope.pr !== undefined)
      found.set(`${scope.repo}#${scope.pr}`, { repo: scope.repo, number: scope.pr });
  return [...found.values()].slice(0, MOST_PULL_REQUESTS);
}

/** Heads and merges, newest first. */
function commitsOf(
  subject: Subject | undefined,
  pullRequests: readonly PullRequestName[],
  lines: readonly EventLine[],
): string[] {
  const { pullRequest = null, worker = null } = subject ?? {};
  const known = [
    worker?.merge?.sha ?? pullRequest?.merge?.sha,
    ...(worker?.deploy?.containedIn ?? []),
    pullRequest?.headSha,
  ];
  const isOwn = ({ event, scope }: EventLine): boolean =>
    event.startsWith('codehost.pr') &&
    pullRequests.some(
      ({ repo, number }) => scope.pr === number && scope.repo?.toLowerCase() === repo.toLowerCase(),
    );
  const shas = lines
    .filter(isOwn)
    .toSorted((a, b) => b.seq - a.seq)
    .flatMap(({ scope }) => [scope.mergeSha, scope.sha]);
  return [...new Set([...known, ...shas].filter((sha) => typeof sha === 'string'))].slice(0, MOST_COMMITS);
}
