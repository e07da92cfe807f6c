// Issues of a repository as the tickets of a project, only through `gh`. A state is a status of a project, a label, or
// open and closed (core: github-states.ts). Labels are added and removed one by one, never set as a list: a label that a
// person sets meanwhile must not be lost.
import { setTimeout as pause } from 'node:timers/promises';
import { repoKey, repoNameIn } from '@svc/contract/repo-name';
import { type GraphqlAnswer, problemOfGraphql } from '../../../codehost/api-answer.ts';
import { type Gh, type GhResult, parsed } from '../../../codehost/gh.ts';
import { createIssueApi } from '../../../codehost/issues.ts';
import { type CodehostProblem, codehostProblemWords } from '../../../codehost/problem.ts';
import type { TrackerIssueState, TrackerProblem } from '../../api-answer.ts';
import { numberedTicket } from '../../dependencies.ts';
import {
  GithubIssue,
  GithubIssueText,
  IssueInProject,
  IssueRelations,
  type IssueStatus,
  issueFields,
  issueInProject,
  issueTextFields,
  polledFrom,
  relationFields,
  relationsOf,
  stateOfIssue,
  ticketOfIssue,
  writtenTicket,
} from '../../github-issue.ts';
import {
  type GithubMove,
  githubMove,
  githubStates,
  isStateLabel,
  type StatusField,
} from '../../github-states.ts';
import type { GithubTracker } from '../../tracker-of.ts';
import { type Tracker, TrackerError } from '../tracker.ts';
import { createCodehostDestination } from './filing.ts';

const PAGE_SIZE = 100;
const RELATIONS_AT_ONCE = 25;
const ISSUES_AT_ONCE = 50;
/** The newest 200 comments of a ticket; older ones are not read. */
const COMMENT_PAGES = 2;

type Read = { issue: GithubIssue; item: IssueStatus | undefined };

export function createGithubTracker(
  tracker: GithubTracker,
  { gh: given, now }: { gh: Pick<Gh, 'request' | 'list' | 'graphql'>; now: () => number },
): Tracker {
  const { teamId: repo, teamKey, project, stateMap } = tracker;
  const name = repoNameIn(repo) ?? { owner: '', name: '' };
  let calls = 0;
  /** What `issueState` read, for the move that follows it. */
  const read = new Map<number, Read>();

  const counted = async <Value>(asked: Promise<GhResult<Value>>): Promise<GhResult<Value>> => {
    calls += 1;
    return asked;
  };
  const gh: Pick<Gh, 'request' | 'list' | 'graphql'> = {
    request: (request) => counted(given.request(request)),
    list: (path) => counted(given.list(path)),
    graphql: (query, variables) => counted(given.graphql(query, variables)),
  };

  const error = (problem: CodehostProblem): TrackerError => {
    const { why, remedy } = codehostProblemWords(problem);
    return new TrackerError(trackerProblem(problem, now()), {
      message: `The issues of ${repo} cannot be used: ${why}.`,
      remedy,
    });
  };
  function valueOf<Value>(result: GhResult<Value>): Value {
    if (result.ok) return result.value;
    throw error(result.problem);
  }
  /** Undefined for what does not exist. */
  function ifThere<Value>(result: GhResult<Value>): Value | undefined {
    if (!result.ok && isGone(result.problem)) return undefined;
    return valueOf(result);
  }
  /** Fields that do not exist are null; any other error fails the whole. */
  async function graphql(query: string, variables: Record<string, unknown>): Promise<GraphqlAnswer['data']> {
    const { data, errors } = valueOf(await gh.graphql(query, variables));
    const refusal = errors.find(({ type }) => type !== 'NOT_FOUND');
    if (refusal === undefined) return data;
    const problem = problemOfGraphql(refusal);
    throw error(
      refusal.type === 'INSUFFICIENT_SCOPES' ? { ...problem, kind: 'no-admin', scope: 'project' } : problem,
    );
  }
  /** Several issues in one request, each under its own name; those that do not exist are left out. */
  async function issuesBy(numbers: readonly number[], fields: string): Promise<unknown[]> {
    const asked = numbers.map((number) => `i${number}: issue(number: ${number}) { ${fields} }`).join('\n');
    const query = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { ${asked} } }`;
    const { repository } = await graphql(query, name);
    if (repository === null || repository === undefined)
      throw error({ kind: 'repo-gone', message: 'not found' });
    return Object.values(repository).filter((issue) => issue !== null);
  }
  async function inProject(numbers: readonly number[]): Promise<Read[]> {
    const found: Read[] = [];
    for (let from = 0; from < numbers.length; from += ISSUES_AT_ONCE) {
      const some = await issuesBy(numbers.slice(from, from + ISSUES_AT_ONCE), issueFields);
      found.push(
        ...valueOf(parsed(IssueInProject.array(), some)).map((issue) => issueInProject(issue, tracker)),
      );
    }
    return found;
  }

  function numberOf(ticket: string): number | undefined {
    const numbered = numberedTicket(ticket);
    return numbered?.team === teamKey.toUpperCase() ? numbered.number : undefined;
  }
  /** A transferred issue is found under its old number, but it is in another repository. */
  function isOurs(url: string): boolean {
    return repoKey(url).includes(`/${repoKey(repo)}/issues/`);
  }
  async function restIssue(number: number): Promise<GithubIssue | undefined> {
    const answer = ifThere(await gh.request({ path: `repos/${repo}/issues/${number}` }));
    const issue = answer && valueOf(parsed(GithubIssue, answer.json));
    return issue !== undefined && isOurs(issue.html_url) && issue.pull_request === undefined
      ? issue
      : undefined;
  }
  async function readIssue(number: number): Promise<Read | undefined> {
    if (project !== undefined) return (await inProject([number]))[0];
    const issue = await restIssue(number);
    return issue && { issue, item: undefined };
  }

  async function textPage(number: number, before: string | null): Promise<GithubIssueText | undefined> {
    const [issue] = await issuesBy([number], issueTextFields(before));
    const page = issue === undefined ? undefined : valueOf(parsed(GithubIssueText, issue));
    return page !== undefined && isOurs(page.url) ? page : undefined;
  }

  async function statusField(): Promise<StatusField | undefined> {
    const field = `projectV2(number: $number) { id field(name: "Status") {
      ... on ProjectV2SingleSelectField { id options { id name } } } }`;
    const data = await graphql(
      `query($owner: String!, $number: Int!) { organization(login: $owner) { ${field} } user(login: $owner) { ${field} } }`,
      { ...project },
    );
    const owner = (data['organization'] ?? data['user']) as { projectV2?: FoundProject | null } | null;
    const found = owner?.projectV2;
    return found?.field?.options === undefined
      ? undefined
      : { projectId: found.id, fieldId: found.field.id, options: found.field.options };
  }

  async function patch(number: number, body: Record<string, string>): Promise<void> {
    valueOf(await gh.request({ method: 'PATCH', path: `repos/${repo}/issues/${number}`, body }));
  }
  async function setOpen(number: number, { issue }: Read, close: GithubMove['close']): Promise<void> {
    if (close !== undefined) await patch(number, { state: 'closed', state_reason: close });
    else if (issue.state !== 'open') await patch(number, { state: 'open' });
  }
  async function setLabel(number: number, { issue }: Read, label: string | undefined): Promise<void> {
    const path = `repos/${repo}/issues/${number}/labels`;
    if (label !== undefined) valueOf(await gh.request({ method: 'POST', path, body: { labels: [label] } }));
    for (const other of issue.labels) {
      if (other.name.toLowerCase() === label?.toLowerCase() || !isStateLabel(stateMap, other.name)) continue;
      ifThere(await gh.request({ method: 'DELETE', path: `${path}/${encodeURIComponent(other.name)}` }));
    }
  }
  async function setStatus({ issue, item }: Read, status: NonNullable<GithubMove['status']>): Promise<void> {
    const { projectId, fieldId, optionId } = status;
    const itemId = item?.itemId ?? (await addToProject(projectId, issue.node_id));
    const asked = graphql(
      `mutation($projectId: ID!, $itemId: ID!, $fieldId: ID!, $optionId: String!) {
        updateProjectV2ItemFieldValue(input: { projectId: $projectId, itemId: $itemId, fieldId: $fieldId,
          value: { singleSelectOptionId: $optionId } }) { projectV2Item { id } } }`,
      { projectId, itemId, fieldId, optionId },
    );
    const data = await asked.catch((thrown: unknown) => {
      // It has no kind of its own for an option that was removed.
      if (thrown instanceof TrackerError && thrown.problem.kind === 'graphql') return undefined;
      throw thrown;
    });
    if (!data?.['updateProjectV2ItemFieldValue'])
      throw error({ kind: 'not-found', message: 'the project has no such status' });
  }
  async function addToProject(projectId: string, contentId: string): Promise<string> {
    const data = await graphql(
      `mutation($projectId: ID!, $contentId: ID!) {
        addProjectV2ItemById(input: { projectId: $projectId, contentId: $contentId }) { item { id } } }`,
      { projectId, contentId },
    );
    const added = data['addProjectV2ItemById'] as { item?: { id: string } | null } | null;
    if (added?.item) return added.item.id;
    throw error({ kind: 'not-found', message: 'the project does not exist' });
  }

  const team = { id: repo, key: teamKey, name: repo };
  return {
    quota: () => undefined,
    calls: () => calls,
    listTeams: () => Promise.resolve([team]),
    async teamStates(asked) {
      if (asked.toUpperCase() !== teamKey.toUpperCase() && repoKey(asked) !== repoKey(repo)) return undefined;
      if (project === undefined) {
        const listed = ifThere(await gh.list(`repos/${repo}/labels?per_page=${PAGE_SIZE}`));
        if (listed === undefined) return undefined;
        const labels = (listed as { name?: unknown }[]).flatMap(({ name: label }) =>
          typeof label === 'string' ? [label] : [],
        );
        return { ...team, states: githubStates(stateMap, { labels }) };
      }
      const status = await statusField();
      if (status !== undefined) return { ...team, states: githubStates(stateMap, { status }) };
      throw new TrackerError(
        { kind: 'graphql', message: 'no such project', code: undefined },
        {
          message: `The code host has no project ${project.owner}/${project.number} with a field Status that gh can see.`,
          remedy:
            'Run: gh auth refresh -s project, or name another: svc config set svc.tracker.githubProject <owner/number>',
        },
      );
    },
    async issueState(ticket) {
      const number = numberOf(ticket);
      const found = number === undefined ? undefined : await readIssue(number);
      if (number === undefined || found === undefined) return undefined;
      read.set(number, found);
      const identifier = ticketOfIssue(tracker, number);
      return { id: identifier, identifier, state: currentState(found, tracker), team };
    },
    async setIssueState(ticket, stateId) {
      const number = numberOf(ticket);
      const move = githubMove(stateId);
      const found = number === undefined ? undefined : (read.get(number) ?? (await readIssue(number)));
      if (number === undefined || found === undefined || move === undefined)
        throw error({ kind: 'not-found', message: `no ticket ${ticket}, or no state ${stateId}` });
      read.delete(number);
      await setOpen(number, found, move.close);
      if (move.status !== undefined) await setStatus(found, move.status);
      else if (project === undefined) await setLabel(number, found, move.label);
      return undefined;
    },
    async issueText(ticket) {
      const number = numberOf(ticket);
      if (number === undefined) return undefined;
      const pages: GithubIssueText[] = [];
      for (let before: string | null = null; pages.length < COMMENT_PAGES; ) {
        const page = await textPage(number, before);
        if (page === undefined) return undefined;
        pages.push(page);
        before = page.comments.pageInfo.startCursor;
        if (!page.comments.pageInfo.hasPreviousPage || before === null) break;
      }
      return writtenTicket(pages, tracker);
    },
    async issueBlockers(asked, numbers) {
      if (asked.toUpperCase() !== teamKey.toUpperCase()) return [];
      const found = [];
      for (let from = 0; from < numbers.length; from += RELATIONS_AT_ONCE) {
        const some = await issuesBy(numbers.slice(from, from + RELATIONS_AT_ONCE), relationFields);
        found.push(...valueOf(parsed(IssueRelations.array(), some)));
      }
      return found.map((issue) => relationsOf(issue, tracker));
    },
    async issuesUpdatedSince(_team, since, open = []) {
      const from = new Date(since).toISOString().replace(/\.\d{3}Z$/, 'Z');
      const query = `state=all&sort=updated&direction=asc&since=${from}&per_page=${PAGE_SIZE}`;
      const listed = valueOf(
        parsed(GithubIssue.array(), valueOf(await gh.list(`repos/${repo}/issues?${query}`))),
      );
      const updated = listed.filter((issue) => issue.pull_request === undefined);
      const cursor = listed.at(-1)?.updated_at ?? since;
      if (project === undefined)
        return { issues: updated.map((issue) => polledFrom(issue, tracker)), cursor };
      const asked = new Set([
        ...updated.map(({ number }) => number),
        ...open.flatMap((one) => numberOf(one) ?? []),
      ]);
      const found = await inProject([...asked]);
      return { issues: found.map(({ issue, item }) => polledFrom(issue, tracker, item ?? null)), cursor };
    },
    filing: createCodehostDestination({
      repo,
      issues: createIssueApi(gh),
      now,
      sleep: (milliseconds) => pause(milliseconds),
      ticketOf: (number) => ticketOfIssue(tracker, number),
    }),
  };
}

type FoundProject = { id: string; field?: { id: string; options?: { id: string; name: string }[] } | null };

/** A ticket that shows two states, after a move that was cut off, is in neither: a move must not find it moved already. */
function currentState({ issue, item }: Read, tracker: GithubTracker): TrackerIssueState['state'] {
  const own = stateOfIssue(issue, tracker, item ?? null);
  const shown = { id: own?.id ?? '', name: own?.name ?? '', type: own?.type ?? '' };
  if (tracker.project === undefined) {
    const other = issue.labels.find(
      ({ name }) => isStateLabel(tracker.stateMap, name) && shown.id !== `label:${name}`,
    );
    return other === undefined
      ? shown
      : { ...shown, id: '', name: `${shown.name}, with the label ${other.name}` };
  }
  const status = item?.status && githubStates(tracker.stateMap, { status: item.status })[0];
  const isFinal = status !== undefined && githubMove(status.id)?.close !== undefined;
  if (issue.state === 'open')
    return isFinal ? { ...shown, id: 'open', name: `${shown.name}, not closed` } : shown;
  if (isFinal && status.type === shown.type) return { ...shown, id: status.id, name: status.name };
  return status === undefined ? shown : { ...shown, name: `${shown.name}, but ${status.name}` };
}

function isGone({ kind, ...problem }: CodehostProblem): boolean {
  return kind === 'not-found' || kind === 'repo-gone' || ('status' in problem && problem.status === 410);
}

/** What the callers of a tracker have to know: whether a retry makes sense, and when. */
function trackerProblem(problem: CodehostProblem, now: number): TrackerProblem {
  const { message } = problem;
  switch (problem.kind) {
    case 'gh-missing':
    case 'logged-out':
      return { kind: 'unauthorised', message };
    case 'no-admin':
      return { kind: 'forbidden', message };
    case 'repo-gone':
    case 'not-found':
      return { kind: 'not-found', message };
    case 'rate-limited':
    case 'throttled':
      return { kind: 'rate-limited', message, retryAfterMs: Math.max(1_000, problem.until - now) };
    case 'refused':
      return { kind: 'graphql', message, code: undefined };
    case 'unavailable':
    case 'malformed':
      return { kind: problem.kind, message };
  }
}
