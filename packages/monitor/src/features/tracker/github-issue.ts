// Issues of the code host as its APIs answer them, and as the tickets that the rest of the product knows.
import { z } from 'zod';
import type { TrackerRelation } from './api-answer.ts';
import { githubStateOf, githubStates, type StatusField } from './github-states.ts';
import type { PolledIssue } from './polled-issue.ts';
import type { WrittenTicket } from './ticket-text.ts';
import type { TicketState } from './topics.ts';
import type { GithubTracker } from './tracker-of.ts';

const login = z.object({ login: z.string() }).nullish();

/** From the REST API. A pull request is listed as an issue too. */
export const GithubIssue = z.object({
  number: z.int().positive(),
  node_id: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  state: z.string(),
  state_reason: z.string().nullish(),
  labels: z.array(z.union([z.string().transform((name) => ({ name })), z.object({ name: z.string() })])),
  assignee: login,
  user: login,
  created_at: z.string(),
  updated_at: z.iso.datetime({ offset: true }),
  pull_request: z.unknown().optional(),
});
export type GithubIssue = z.infer<typeof GithubIssue>;

/** The status that an issue has in the project; `optionId` is null without one. */
export type IssueStatus = { itemId: string; updatedAt: string; status: StatusField | undefined };

const nodesOf = <Node extends z.ZodType>(node: Node) => z.object({ nodes: z.array(node.nullable()) });

const StatusValue = z.object({
  optionId: z.string().nullish(),
  name: z.string().nullish(),
  field: z.object({ id: z.string() }),
});

const ProjectItem = z.object({
  id: z.string(),
  updatedAt: z.string(),
  project: z.object({ id: z.string(), number: z.int(), owner: z.object({ login: z.string() }) }),
  fieldValueByName: z.union([StatusValue, z.object({}).transform(() => null)]).nullish(),
});

/** From GraphQL: what `issueFields` asks for. */
export const IssueInProject = z.object({
  number: z.int().positive(),
  id: z.string(),
  title: z.string(),
  url: z.string(),
  state: z.string(),
  stateReason: z.string().nullish(),
  createdAt: z.string(),
  updatedAt: z.iso.datetime({ offset: true }),
  author: login,
  assignees: nodesOf(z.object({ login: z.string() })),
  labels: nodesOf(z.object({ name: z.string() })).nullish(),
  projectItems: nodesOf(ProjectItem).nullish(),
});

export const issueFields = `number id title url state stateReason createdAt updatedAt author { login }
  assignees(first: 1) { nodes { login } }
  labels(first: 100) { nodes { name } }
  projectItems(first: 20) { nodes { id updatedAt
    project { id number owner { ... on Organization { login } ... on User { login } } }
    fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue {
      optionId name field { ... on ProjectV2SingleSelectField { id } } } } } }`;

const present = <Node>(list: { nodes: (Node | null)[] } | null | undefined): Node[] =>
  (list?.nodes ?? []).filter((node) => node !== null);

/** The issue in the form of the REST API, and its place in the project. */
export function issueInProject(
  found: z.infer<typeof IssueInProject>,
  { project }: Pick<GithubTracker, 'project'>,
): { issue: GithubIssue; item: IssueStatus | undefined } {
  const issue: GithubIssue = {
    number: found.number,
    node_id: found.id,
    title: found.title,
    html_url: found.url,
    state: found.state.toLowerCase(),
    state_reason: found.stateReason?.toLowerCase(),
    labels: present(found.labels),
    assignee: present(found.assignees)[0] ?? null,
    user: found.author,
    created_at: found.createdAt,
    updated_at: found.updatedAt,
  };
  const item = present(found.projectItems).find(
    (one) =>
      one.project.number === project?.number &&
      one.project.owner.login.toLowerCase() === project.owner.toLowerCase(),
  );
  if (item === undefined) return { issue, item: undefined };
  const value = item.fieldValueByName;
  const status = value?.optionId && {
    projectId: item.project.id,
    fieldId: value.field.id,
    options: [{ id: value.optionId, name: value.name ?? '' }],
  };
  return { issue, item: { itemId: item.id, updatedAt: item.updatedAt, status: status || undefined } };
}

export function ticketOfIssue({ teamKey }: GithubTracker, number: number): string {
  return `${teamKey.toUpperCase()}-${number}`;
}

/** The state that is shown; undefined if only the project knows it, and was not asked. */
export function stateOfIssue(
  issue: GithubIssue,
  tracker: GithubTracker,
  item?: IssueStatus | null,
): TicketState | undefined {
  const facts = {
    state: issue.state,
    stateReason: issue.state_reason,
    labels: issue.labels.map(({ name }) => name),
  };
  const own = githubStateOf(facts, {
    stateMap: tracker.stateMap,
    inProject: tracker.project !== undefined,
  });
  if (own !== undefined || item === undefined) return own;
  const state = item?.status && githubStates(tracker.stateMap, { status: item.status })[0];
  return state ? { id: state.id, name: state.name, type: state.type } : noStatus;
}

const noStatus = { id: 'open', name: 'No status', type: 'unstarted' };

/** `item` is null for an issue that is not in the project. */
export function polledFrom(
  issue: GithubIssue,
  tracker: GithubTracker,
  item?: IssueStatus | null,
): PolledIssue {
  const { assignee, user } = issue;
  return {
    id: issue.node_id,
    identifier: ticketOfIssue(tracker, issue.number),
    title: issue.title,
    url: issue.html_url,
    createdAt: issue.created_at,
    // A changed status does not change the issue.
    updatedAt: item && item.updatedAt > issue.updated_at ? item.updatedAt : issue.updated_at,
    state: stateOfIssue(issue, tracker, item),
    onlyPolled: tracker.project !== undefined,
    team: { id: tracker.teamId, key: tracker.teamKey },
    assignee: assignee ? { id: assignee.login, name: assignee.login } : null,
    labels: { nodes: issue.labels },
    ...(user && { author: { name: user.login } }),
  };
}

const Related = z.object({
  number: z.int(),
  state: z.string(),
  stateReason: z.string().nullish(),
  repository: z.object({ nameWithOwner: z.string() }),
});

export const IssueRelations = z.object({
  number: z.int(),
  blockedBy: nodesOf(Related),
  subIssues: nodesOf(Related),
});

const related = 'nodes { number state stateReason repository { nameWithOwner } }';
/** The code host allows 50 blockers and 100 sub-issues. */
export const relationFields = `number blockedBy(first: 100) { ${related} } subIssues(first: 100) { ${related} }`;

/** What an issue waits for: those that block it, and its parts. */
export function relationsOf(
  found: z.infer<typeof IssueRelations>,
  tracker: GithubTracker,
): { identifier: string; relations: TrackerRelation[] } {
  const waitsFor = [...present(found.blockedBy), ...present(found.subIssues)];
  const relations = waitsFor.map(({ number, state, stateReason, repository: { nameWithOwner } }) => {
    const isOurs = nameWithOwner.toLowerCase() === tracker.teamId.toLowerCase();
    const shown = githubStateOf(
      { state: state.toLowerCase(), stateReason: stateReason?.toLowerCase(), labels: [] },
      { stateMap: tracker.stateMap, inProject: false },
    );
    return {
      type: 'blocks',
      issue: {
        identifier: isOurs ? ticketOfIssue(tracker, number) : `${nameWithOwner}#${number}`,
        state: { name: shown?.name ?? state, type: shown?.type ?? 'unstarted' },
      },
    };
  });
  return { identifier: ticketOfIssue(tracker, found.number), relations };
}

const GithubComment = z.object({
  id: z.string(),
  body: z.string(),
  createdAt: z.string(),
  author: z.object({ login: z.string(), __typename: z.string() }).nullable(),
  viewerDidAuthor: z.boolean(),
});

const Linked = z.object({ number: z.int(), title: z.string(), url: z.string() });

/** From GraphQL: what `issueTextFields` asks for. */
export const GithubIssueText = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string(),
  url: z.string(),
  state: z.string(),
  stateReason: z.string().nullish(),
  author: login,
  labels: nodesOf(z.object({ name: z.string() })).nullish(),
  parent: Linked.nullish(),
  subIssues: nodesOf(Linked).nullish(),
  closedByPullRequestsReferences: nodesOf(Linked).nullish(),
  comments: nodesOf(GithubComment).extend({
    totalCount: z.int(),
    pageInfo: z.object({ hasPreviousPage: z.boolean(), startCursor: z.string().nullable() }),
  }),
});
export type GithubIssueText = z.infer<typeof GithubIssueText>;

/** With the newest comments, or those before a cursor of an earlier answer. */
export function issueTextFields(before: string | null): string {
  const place = before === null ? '' : `, before: ${JSON.stringify(before)}`;
  const linked = 'number title url';
  return `number title body url state stateReason author { login } parent { ${linked} }
  subIssues(first: 50) { nodes { ${linked} } }
  closedByPullRequestsReferences(first: 10, includeClosedPrs: true) { nodes { ${linked} } }
  labels(first: 100) { nodes { name } }
  comments(last: 100${place}) { totalCount pageInfo { hasPreviousPage startCursor }
    nodes { id body createdAt viewerDidAuthor author { login __typename } } }`;
}

function linksTo(what: string, linked: readonly z.infer<typeof Linked>[]): WrittenTicket['links'] {
  return linked.map(({ number, title, url }) => ({ title: `${what}: #${number} ${title}`, url }));
}

/** The pages of one issue, the newest first. */
export function writtenTicket(
  pages: readonly GithubIssueText[],
  tracker: GithubTracker,
): WrittenTicket | undefined {
  const [newest] = pages;
  if (newest === undefined) return undefined;
  const labels = present(newest.labels).map(({ name }) => name);
  const state = newest.state.toLowerCase();
  const facts = { state, stateReason: newest.stateReason?.toLowerCase(), labels };
  const shown = githubStateOf(facts, {
    stateMap: tracker.stateMap,
    inProject: tracker.project !== undefined,
  });
  const { parent, comments } = newest;
  return {
    title: newest.title,
    url: newest.url,
    // In a project, only the project knows more.
    state: shown?.name ?? state,
    author: newest.author?.login ?? null,
    body: newest.body,
    labels,
    links: [
      ...linksTo('Parent', parent ? [parent] : []),
      ...linksTo('Sub-issue', present(newest.subIssues)),
      ...linksTo('Pull request', present(newest.closedByPullRequestsReferences)),
    ],
    comments: pages
      .toReversed()
      .flatMap((page) => present(page.comments))
      .map(({ id, body, createdAt, author, viewerDidAuthor }) => ({
        id,
        author: author?.login ?? null,
        by: viewerDidAuthor ? 'self' : author !== null && author.__typename !== 'User' ? 'app' : 'person',
        at: createdAt,
        text: body,
      })),
    commentCount: comments.totalCount,
  };
}
