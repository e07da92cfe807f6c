// Polls pull requests, many in one call, and logs what the log does not have yet.
import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { type GraphqlAnswer, problemOfGraphql } from '../codehost/api-answer.ts';
import type { Gh } from '../codehost/gh.ts';
import type { CodehostProblem } from '../codehost/problem.ts';
import type { Reconciled, RepoProblem } from '../codehost/rounds.ts';
import {
  isHistory,
  type KnownPullRequest,
  PolledPullRequest,
  PolledRepo,
  pollDifferences,
} from './poll-differences.ts';

// The GraphQL document of a reconciliation: many pull requests of many repositories in one call, each under an alias
// that identifies it in the answer.

/** Most pull requests in one call. */
export const PULL_REQUESTS_PER_CALL = 50;
/** How many of the newest pull requests of a repository without webhooks are checked. */
export const NEWEST_PER_REPO = 25;

/** Pull requests of one repository: some by number, or the newest. */
export type RepoRequest = { repo: string; numbers: number[]; newest: boolean };

const fields = `
  fragment Fields on PullRequest {
    number title url state isDraft merged mergedAt createdAt updatedAt closedAt
    mergedBy { login }
    author { login }
    mergeCommit { oid }
    headRefName headRefOid baseRefName
    headRepository { nameWithOwner }
    mergeable mergeStateStatus reviewDecision
    commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } }
  }`;

export type ReconcileQuery = { query: string; variables: Record<string, string>; requests: RepoRequest[] };

/** As few calls as possible; a repository with many pull requests may be in several. */
export function reconcileQueries(requests: readonly RepoRequest[]): ReconcileQuery[] {
  const calls: { requests: RepoRequest[]; size: number }[] = [];
  const put = (request: RepoRequest, size: number): void => {
    const open = calls.find((call) => call.size + size <= PULL_REQUESTS_PER_CALL);
    if (open === undefined) calls.push({ requests: [request], size });
    else {
      open.requests.push(request);
      open.size += size;
    }
  };
  for (const { repo, numbers, newest } of requests) {
    if (newest) put({ repo, numbers: [], newest }, NEWEST_PER_REPO);
    const distinct = [...new Set(numbers)];
    for (let start = 0; start < distinct.length; start += PULL_REQUESTS_PER_CALL) {
      const some = distinct.slice(start, start + PULL_REQUESTS_PER_CALL);
      put({ repo, numbers: some, newest: false }, some.length);
    }
  }
  return calls.map((call) => queryFor(call.requests));
}

function queryFor(requests: RepoRequest[]): ReconcileQuery {
  const variables: Record<string, string> = {};
  const parameters: string[] = [];
  const parts = requests.map(({ repo, numbers, newest }, index) => {
    const { owner = '', name = '' } = repoNameIn(repo) ?? {};
    variables[`o${index}`] = owner;
    variables[`n${index}`] = name;
    parameters.push(`$o${index}: String!, $n${index}: String!`);
    const ones = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ...Fields }`);
    const list = `newest: pullRequests(first: ${NEWEST_PER_REPO}, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { ...Fields } }`;
    const selection = ['nameWithOwner', ...ones, ...(newest ? [list] : [])].join('\n');
    return `r${index}: repository(owner: $o${index}, name: $n${index}) { ${selection} }`;
  });
  return {
    query: `query Reconcile(${parameters.join(', ')}) {\n${parts.join('\n')}\n}\n${fields}`,
    variables,
    requests,
  };
}

export type PullRequestSelection = {
  /** Pull requests that are watched. */
  pullRequests: readonly { repo: string; number: number }[];
  /** Repositories without webhooks: their newest pull requests are checked too. */
  uncovered: readonly string[];
};

export type ReconcileOptions = {
  gh: Pick<Gh, 'graphql' | 'request'>;
  append: (draft: EventDraft) => Promise<{ duplicate: boolean }>;
  /** What the log knows about a pull request; the repository as the code host spells it. */
  knownOf: (repo: string, number: number) => KnownPullRequest | undefined;
  isCovered: (repo: string) => boolean;
  ticketPrefixes: () => readonly string[];
  now: () => number;
  /** The last line of the log. */
  lastSeq: () => number;
};

type Polled = { repo: string; pullRequest: PolledPullRequest; wasAskedFor: boolean };

export async function reconcilePullRequests(
  options: ReconcileOptions,
  requests: PullRequestSelection,
): Promise<Reconciled> {
  const report: Reconciled = { checked: 0, found: 0, logged: 0, problems: [] };
  for (const query of reconcileQueries(byRepo(requests))) {
    const askedAt = options.lastSeq();
    const answer = await options.gh.graphql(query.query, query.variables);
    if (!answer.ok) {
      const { problem } = answer;
      report.problems.push(...query.requests.map(({ repo }) => ({ repo, problem })));
      continue;
    }
    const { polled, problems } = readPolled(query, answer.value);
    report.problems.push(...problems);
    report.checked += polled.length;
    for (const one of polled) await logDifferences(options, one, askedAt, report);
  }
  return report;
}

async function logDifferences(
  options: ReconcileOptions,
  polled: Polled,
  askedAt: number,
  report: Reconciled,
): Promise<void> {
  const { repo, pullRequest, wasAskedFor } = polled;
  const known = options.knownOf(repo, pullRequest.number);
  // An event arrived during the request, so the answer is older than what is known.
  if (known?.asOf !== undefined && Number(known.asOf) > askedAt) return;
  if (!wasAskedFor && isHistory(pullRequest, known, options.now())) return;
  const context = { repo, ticketPrefixes: options.ticketPrefixes(), covered: options.isCovered(repo) };
  for (const draft of pollDifferences(pullRequest, known, context)) {
    const { duplicate } = await options.append(draft);
    report.found += 1;
    if (!duplicate) report.logged += 1;
  }
}

function byRepo({ pullRequests, uncovered }: PullRequestSelection): RepoRequest[] {
  const requests = new Map<string, RepoRequest>();
  const requestFor = (repo: string): RepoRequest => {
    const request = requests.get(repoKey(repo)) ?? { repo, numbers: [], newest: false };
    requests.set(repoKey(repo), request);
    return request;
  };
  for (const repo of uncovered) requestFor(repo).newest = true;
  for (const { repo, number } of pullRequests) {
    if (Number.isSafeInteger(number) && number > 0) requestFor(repo).numbers.push(number);
  }
  return requests
    .values()
    .filter(({ repo }) => repoNameIn(repo) !== undefined)
    .toArray();
}

/** Each pull request once, even if it was asked for by number and is among the newest. */
function readPolled(
  { requests }: ReconcileQuery,
  { data, errors }: GraphqlAnswer,
): { polled: Polled[]; problems: RepoProblem[] } {
  const polled = new Map<string, Polled>();
  const problems: RepoProblem[] = [];
  for (const [index, request] of requests.entries()) {
    const alias = `r${index}`;
    const repo = PolledRepo.safeParse(data[alias]);
    if (!repo.success) {
      const error = errors.find(({ path }) => path?.[0] === alias);
      const problem = error ? problemOfGraphql(error) : noSuchShape(request.repo);
      problems.push({ repo: request.repo, problem });
      continue;
    }
    const name = repo.data.nameWithOwner;
    const add = (json: unknown, wasAskedFor: boolean): void => {
      if (json === null || json === undefined) return;
      const read = PolledPullRequest.safeParse(json);
      if (!read.success) problems.push({ repo: request.repo, problem: noSuchShape('a pull request') });
      else if (wasAskedFor || !polled.has(`${name}#${read.data.number}`))
        polled.set(`${name}#${read.data.number}`, { repo: name, pullRequest: read.data, wasAskedFor });
    };
    for (const number of request.numbers) add(repo.data[`p${number}`], true);
    for (const json of repo.data.newest?.nodes ?? []) add(json, false);
  }
  return { polled: [...polled.values()], problems };
}

function noSuchShape(what: string): CodehostProblem {
  return { kind: 'malformed', message: `${what} does not have the expected shape` };
}
