// Issues in the forms of the REST API and of webhooks. The fields are those of the vendor's published description
// (github/rest-api-description, as in octokit/openapi-webhooks 12/2025, and its examples in github/docs); repositories and
// organizations in deliveries are the published examples (@octokit/webhooks-examples) with other names.
import { createHash } from 'node:crypto';
import { publishedExamples } from '../payloads/codehost-variants.ts';
import type { JsonObject } from '../payloads/examples.ts';
import { isoTime } from './answer.ts';
import {
  type CodehostCloud,
  type CommentRow,
  fullNameOf,
  type IssueEventRow,
  type IssueRow,
  type LabelRow,
  labelOf,
  type ProjectItemRow,
  type ProjectRow,
  type PullRequestRow,
  type RepoRow,
} from './cloud.ts';

export const site = 'https://codehost.example';
const api = `${site}/api/v3`;

const accountPaths = {
  followers_url: '/followers',
  following_url: '/following{/other_user}',
  gists_url: '/gists{/gist_id}',
  starred_url: '/starred{/owner}{/repo}',
  subscriptions_url: '/subscriptions',
  organizations_url: '/orgs',
  repos_url: '/repos',
  events_url: '/events{/privacy}',
  received_events_url: '/received_events',
};

export function accountView(login: string, type = 'User'): JsonObject {
  const url = `${api}/users/${login}`;
  const id = accountId(login);
  return {
    login,
    id,
    node_id: `U_${login}`,
    avatar_url: `${site}/avatars/${id}`,
    gravatar_id: '',
    url,
    html_url: `${site}/${login}`,
    ...Object.fromEntries(Object.entries(accountPaths).map(([name, path]) => [name, url + path])),
    type,
    site_admin: false,
  };
}

function accountId(login: string): number {
  return createHash('sha1').update(login.toLowerCase()).digest().readUInt32BE();
}

export function labelView(repo: RepoRow, { id, name, color, description }: LabelRow): JsonObject {
  const url = `${api}/repos/${fullNameOf(repo)}/labels/${encodeURIComponent(name)}`;
  return { id, node_id: `LA_${id}`, url, name, color, default: false, description };
}

export function associationOf(repo: RepoRow, login: string): string {
  if (login.toLowerCase() === repo.owner.toLowerCase()) return 'OWNER';
  return repo.people.get(login.toLowerCase())?.association ?? 'NONE';
}

/** Where an issue is, and the issue. */
export type PlacedIssue = { repo: RepoRow; row: IssueRow };

/** Every issue of every repository: sub-issues and dependencies cross them. */
export function allIssues(cloud: CodehostCloud): PlacedIssue[] {
  return cloud.repos().flatMap((repo) => repo.issues.map((row) => ({ repo, row })));
}

export function issueById(cloud: CodehostCloud, id: number | null): PlacedIssue | undefined {
  return allIssues(cloud).find(({ row }) => row.id === id);
}

export function subIssuesOf(cloud: CodehostCloud, parent: IssueRow): PlacedIssue[] {
  return allIssues(cloud).filter(({ row }) => row.parentId === parent.id);
}

export function blockersOf(cloud: CodehostCloud, blocked: IssueRow): PlacedIssue[] {
  return blocked.blockedBy.flatMap((id) => issueById(cloud, id) ?? []);
}

export function blockedByIt(cloud: CodehostCloud, blocking: IssueRow): PlacedIssue[] {
  return allIssues(cloud).filter(({ row }) => row.blockedBy.includes(blocking.id));
}

export function issueView(cloud: CodehostCloud, { repo, row }: PlacedIssue): JsonObject {
  const parent = issueById(cloud, row.parentId);
  const subIssues = subIssuesOf(cloud, row);
  const completed = subIssues.filter((sub) => sub.row.state === 'closed').length;
  const [blockers, blocked] = [blockersOf(cloud, row), blockedByIt(cloud, row)];
  const open = (placed: PlacedIssue[]): number => placed.filter((one) => one.row.state === 'open').length;
  return {
    ...sharedView(repo, row, 'issues'),
    id: row.id,
    node_id: `I_${row.id}`,
    state: row.state,
    state_reason: row.stateReason,
    labels: row.labels.map((name) => labelView(repo, labelOf(repo, name, cloud.nextId))),
    assignee: row.assignees[0] === undefined ? null : accountView(row.assignees[0]),
    assignees: row.assignees.map((login) => accountView(login)),
    comments: row.comments.length,
    closed_by: row.closedBy === null ? null : accountView(row.closedBy),
    sub_issues_summary: {
      total: subIssues.length,
      completed,
      percent_completed: subIssues.length === 0 ? 0 : Math.floor((completed / subIssues.length) * 100),
    },
    ...(parent && { parent_issue_url: apiUrl(parent.repo, parent.row.number) }),
    issue_dependencies_summary: {
      blocked_by: open(blockers),
      blocking: open(blocked),
      total_blocked_by: blockers.length,
      total_blocking: blocked.length,
    },
    type: null,
  };
}

/** A pull request as an issue: lists of issues contain them too. */
export function pullRequestAsIssue(repo: RepoRow, row: PullRequestRow): JsonObject {
  const html_url = `${site}/${fullNameOf(repo)}/pull/${row.number}`;
  const url = `${api}/repos/${fullNameOf(repo)}/pulls/${row.number}`;
  const merged_at = row.mergedAt === null ? null : isoTime(row.mergedAt);
  return {
    ...sharedView(repo, row, 'pull'),
    id: repo.id * 1_000_000 + row.number,
    node_id: `PR_${repo.id}_${row.number}`,
    state: row.state === 'OPEN' ? 'open' : 'closed',
    state_reason: null,
    labels: [],
    assignee: null,
    assignees: [],
    comments: 0,
    closed_by: null,
    draft: row.isDraft,
    pull_request: { url, html_url, diff_url: `${html_url}.diff`, patch_url: `${html_url}.patch`, merged_at },
  };
}

function sharedView(repo: RepoRow, row: IssueRow | PullRequestRow, folder: string): JsonObject {
  const url = apiUrl(repo, row.number);
  return {
    url,
    repository_url: `${api}/repos/${fullNameOf(repo)}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    html_url: `${site}/${fullNameOf(repo)}/${folder}/${row.number}`,
    number: row.number,
    title: row.title,
    user: accountView(row.author),
    body: row.body,
    milestone: null,
    locked: false,
    active_lock_reason: null,
    draft: false,
    author_association: associationOf(repo, row.author),
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
    closed_at: row.closedAt === null ? null : isoTime(row.closedAt),
    reactions: { url: `${url}/reactions`, ...noReactions },
    performed_via_github_app: null,
  };
}

const noReactions = Object.fromEntries(
  ['total_count', '+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'].map((name) => [
    name,
    0,
  ]),
);

function apiUrl(repo: RepoRow, number: number): string {
  return `${api}/repos/${fullNameOf(repo)}/issues/${number}`;
}

export function commentView(repo: RepoRow, { number }: { number: number }, comment: CommentRow): JsonObject {
  const url = `${api}/repos/${fullNameOf(repo)}/issues/comments/${comment.id}`;
  return {
    url,
    html_url: `${site}/${fullNameOf(repo)}/issues/${number}#issuecomment-${comment.id}`,
    issue_url: apiUrl(repo, number),
    id: comment.id,
    node_id: `IC_${comment.id}`,
    user: accountView(comment.author),
    created_at: isoTime(comment.createdAt),
    updated_at: isoTime(comment.updatedAt),
    author_association: associationOf(repo, comment.author),
    body: comment.body,
    reactions: { url: `${url}/reactions`, ...noReactions },
    performed_via_github_app: null,
  };
}

export function eventView(repo: RepoRow, row: IssueEventRow, labels: readonly LabelRow[]): JsonObject {
  const label = labels.find(({ name }) => name === row.label);
  return {
    id: row.id,
    node_id: `IE_${row.id}`,
    url: `${api}/repos/${fullNameOf(repo)}/issues/events/${row.id}`,
    actor: accountView(row.actor),
    event: row.event,
    commit_id: null,
    commit_url: null,
    created_at: isoTime(row.createdAt),
    ...(row.label !== undefined && { label: { name: row.label, color: label?.color ?? 'ededed' } }),
    ...(row.assignee !== undefined && {
      assignee: accountView(row.assignee),
      assigner: accountView(row.actor),
    }),
    performed_via_github_app: null,
  };
}

// Parts of deliveries.

/** A part of a published example (type and action), with another name in all its addresses. */
function published(event: string, part: string, nameThere: string, name: string): JsonObject {
  const example = publishedExamples().find(
    ({ type, payload }) => event === `${type} ${String(payload['action'])}`,
  );
  const text = JSON.stringify(example?.payload[part] ?? {});
  return JSON.parse(
    text
      .replaceAll('https://api.github.com', api)
      .replaceAll('https://github.com', site)
      .replaceAll(nameThere, name),
  ) as JsonObject;
}

export function repositoryView(cloud: CodehostCloud, repo: RepoRow): JsonObject {
  const isOrganization = cloud.organization(repo.owner) !== undefined;
  return {
    ...published('issues labeled', 'repository', 'Codertocat/Hello-World', fullNameOf(repo)),
    id: repo.id,
    node_id: `R_${repo.id}`,
    name: repo.name,
    owner: accountView(repo.owner, isOrganization ? 'Organization' : 'User'),
    open_issues: repo.issues.filter(({ state }) => state === 'open').length,
    default_branch: repo.settings['default_branch'],
  };
}

export function organizationView(login: string): JsonObject {
  const id = accountId(login);
  return {
    ...published('projects_v2_item edited', 'organization', 'Octocoders', login),
    id,
    node_id: `O_${id}`,
  };
}

export function projectItemView(project: ProjectRow, item: ProjectItemRow): JsonObject {
  return {
    id: item.id,
    node_id: `PVTI_${item.id}`,
    project_node_id: `PVT_${project.id}`,
    content_node_id: `I_${item.issueId}`,
    content_type: 'Issue',
    creator: accountView(item.creator),
    created_at: isoTime(item.createdAt),
    updated_at: isoTime(item.updatedAt),
    archived_at: null,
  };
}
