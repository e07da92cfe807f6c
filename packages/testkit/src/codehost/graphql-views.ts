// Rows in the form of the GraphQL schema, for one caller.
import { GraphQLError } from 'graphql';
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
import {
  associationOf,
  blockedByIt,
  blockersOf,
  issueById,
  issueView,
  type PlacedIssue,
  site,
  subIssuesOf,
} from './issue-views.ts';

export type Caller = { login: string; scopes: readonly string[] };
export type View = Record<string, unknown>;

type Page = { first?: number; last?: number; after?: string; before?: string };
type Listing = Page & {
  states?: string[];
  labels?: string[];
  headRefName?: string;
  baseRefName?: string;
  filterBy?: { assignee?: string; createdBy?: string; labels?: string[]; since?: string; states?: string[] };
  orderBy?: { field: string; direction: string };
};

const LARGEST_PAGE = 100;

export function createViews(cloud: CodehostCloud, caller: Caller) {
  const repository = (repo: RepoRow): View => ({
    __typename: 'Repository',
    id: `R_${repo.id}`,
    name: repo.name,
    nameWithOwner: fullNameOf(repo),
    description: null,
    owner: () => owner(repo.owner),
    hasIssuesEnabled: true,
    hasWikiEnabled: false,
    viewerPermission: (repo.people.get(caller.login.toLowerCase())?.permission ?? 'read').toUpperCase(),
    defaultBranchRef: { id: `REF_${repo.id}`, name: repo.settings['default_branch'] },
    parent: null,
    mergeCommitAllowed: true,
    rebaseMergeAllowed: true,
    squashMergeAllowed: true,
    assignableUsers: (page: Page) => connection([...repo.people.keys()], page, user),
    issue({ number }: { number: number }): View {
      const row = repo.issues.find((one) => one.number === number);
      if (row === undefined) throw notResolved(`an Issue with the number of ${number}.`);
      return issue({ repo, row });
    },
    issueOrPullRequest({ number }: { number: number }): View {
      const row = repo.issues.find((one) => one.number === number);
      if (row !== undefined) return issue({ repo, row });
      const other = repo.pullRequests.find((one) => one.number === number);
      if (other !== undefined) return pullRequest(repo, other);
      throw notResolved(`an issue or pull request with the number of ${number}.`);
    },
    issues: (listing: Listing) =>
      connection(ordered(repo.issues.filter(issueFilter(listing)), listing), listing, (row) =>
        issue({ repo, row }),
      ),
    label({ name }: { name: string }): View | null {
      const row = repo.labels.find((one) => one.name.toLowerCase() === name.toLowerCase());
      return row === undefined ? null : label(row);
    },
    labels: (page: Page & { query?: string }) =>
      connection(
        repo.labels.filter(({ name }) => name.toLowerCase().includes((page.query ?? '').toLowerCase())),
        page,
        label,
      ),
    pullRequest({ number }: { number: number }): View {
      const row = repo.pullRequests.find((one) => one.number === number);
      if (row === undefined) throw notResolved(`a PullRequest with the number of ${number}.`);
      return pullRequest(repo, row);
    },
    pullRequests: (listing: Listing) => {
      const { states, headRefName, baseRefName } = listing;
      const rows = repo.pullRequests.filter(
        ({ state, branch, base }) =>
          (states?.includes(state) ?? true) &&
          branch === (headRefName ?? branch) &&
          base === (baseRefName ?? base),
      );
      return connection(ordered(rows, listing), listing, (row) => pullRequest(repo, row));
    },
  });

  const pullRequest = (repo: RepoRow, row: PullRequestRow): View => {
    const rollup = row.checks === null ? null : { id: `SC_${row.headSha}`, state: row.checks };
    const head = { id: `C_${row.headSha}`, oid: row.headSha, statusCheckRollup: rollup };
    const merge = { id: `C_${row.mergeSha}`, oid: row.mergeSha, statusCheckRollup: null };
    return {
      __typename: 'PullRequest',
      ...emptyThread,
      id: `PR_${repo.id}_${row.number}`,
      number: row.number,
      title: row.title,
      body: row.body ?? '',
      url: `${site}/${fullNameOf(repo)}/pull/${row.number}`,
      state: row.state,
      isDraft: row.isDraft,
      merged: row.state === 'MERGED',
      mergedAt: timeOf(row.mergedAt),
      mergedBy: row.mergedBy === null ? null : user(row.mergedBy),
      mergeCommit: row.mergeSha === null ? null : merge,
      author: user(row.author),
      createdAt: timeOf(row.createdAt),
      updatedAt: timeOf(row.updatedAt),
      closedAt: timeOf(row.closedAt),
      headRefName: row.branch,
      headRefOid: row.headSha,
      headRepository: () => (row.fork === undefined ? repository(repo) : forkOf(repo, row.fork)),
      headRepositoryOwner: () => owner(row.fork?.split('/')[0] ?? repo.owner),
      isCrossRepository: row.fork !== undefined,
      repository: () => repository(repo),
      baseRefName: row.base,
      mergeable: row.mergeable,
      mergeStateStatus: row.mergeStateStatus,
      reviewDecision: row.reviewDecision,
      statusCheckRollup: rollup,
      commits: (page: Page) => connection([head], page, (commit) => ({ id: `PRC_${row.number}`, commit })),
      labels: (page: Page) => connection([], page, label),
      assignees: (page: Page) => connection([], page, user),
      comments: (page: Page) => connection([], page, label),
    };
  };

  /** The view of a repository that only its name is known of. */
  const forkOf = (repo: RepoRow, fork: string | null): View | null =>
    fork === null ? null : { ...repository(repo), id: `R_${fork}`, nameWithOwner: fork };

  const issue = ({ repo, row }: PlacedIssue): View => {
    const issues = (placed: PlacedIssue[]) => (page: Page) => connection(placed, page, issue);
    const rest = issueView(cloud, { repo, row });
    return {
      __typename: 'Issue',
      ...emptyThread,
      id: `I_${row.id}`,
      databaseId: row.id,
      fullDatabaseId: String(row.id),
      number: row.number,
      title: row.title,
      body: row.body ?? '',
      url: `${site}/${fullNameOf(repo)}/issues/${row.number}`,
      state: row.state.toUpperCase(),
      stateReason: row.stateReason?.toUpperCase() ?? null,
      closed: row.state === 'closed',
      author: user(row.author),
      authorAssociation: associationOf(repo, row.author),
      createdAt: timeOf(row.createdAt),
      updatedAt: timeOf(row.updatedAt),
      closedAt: timeOf(row.closedAt),
      repository: () => repository(repo),
      assignees: (page: Page) => connection(row.assignees, page, user),
      labels: (page: Page) =>
        connection(
          row.labels.map((name) => labelOf(repo, name, cloud.nextId)),
          page,
          label,
        ),
      comments: (page: Page) => connection(row.comments, page, (one) => comment({ repo, row }, one)),
      timelineItems: (page: Page & { itemTypes?: string[] }) =>
        connection(
          row.events.filter(({ event }) => page.itemTypes?.includes(`${event.toUpperCase()}_EVENT`) ?? true),
          page,
          (one) => timelineItem(repo, one),
        ),
      parent: () => {
        const parent = issueById(cloud, row.parentId);
        return parent === undefined ? null : issue(parent);
      },
      subIssues: issues(subIssuesOf(cloud, row)),
      closedByPullRequestsReferences: (page: Page & { includeClosedPrs?: boolean }) => {
        const word = new RegExp(`\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) #${row.number}\\b`, 'i');
        const closing = repo.pullRequests.filter(
          ({ body, state }) => word.test(body ?? '') && (page.includeClosedPrs === true || state === 'OPEN'),
        );
        return connection(closing, page, (one) => pullRequest(repo, one));
      },
      subIssuesSummary: inCamelCase(rest['sub_issues_summary']),
      blockedBy: issues(blockersOf(cloud, row)),
      blocking: issues(blockedByIt(cloud, row)),
      issueDependenciesSummary: inCamelCase(rest['issue_dependencies_summary']),
      projectItems: (page: Page) => {
        needScope('projectItems', ['read:project', 'project']);
        const items = cloud.projects.flatMap((project) =>
          project.items.filter(({ issueId }) => issueId === row.id).map((item) => ({ project, item })),
        );
        return connection(items, page, (one) => projectItem(one.project, one.item));
      },
    };
  };

  const comment = ({ repo, row }: PlacedIssue, one: CommentRow): View => ({
    __typename: 'IssueComment',
    id: `IC_${one.id}`,
    author: user(one.author),
    authorAssociation: associationOf(repo, one.author),
    body: one.body,
    createdAt: timeOf(one.createdAt),
    url: `${site}/${fullNameOf(repo)}/issues/${row.number}#issuecomment-${one.id}`,
    includesCreatedEdit: false,
    isMinimized: false,
    reactionGroups: [],
    viewerDidAuthor: one.author === caller.login,
  });

  const timelineItem = (repo: RepoRow, row: IssueEventRow): View => ({
    __typename: `${row.event.charAt(0).toUpperCase()}${row.event.slice(1)}Event`,
    id: `IE_${row.id}`,
    actor: user(row.actor),
    createdAt: timeOf(row.createdAt),
    label: row.label === undefined ? null : label(labelOf(repo, row.label, cloud.nextId)),
    assignee: row.assignee === undefined ? null : user(row.assignee),
  });

  const user = (login: string): View => account('User', login);

  const owner = (login: string): View =>
    account(cloud.organization(login) === undefined ? 'User' : 'Organization', login);

  const account = (kind: 'User' | 'Organization', login: string): View => ({
    __typename: kind,
    id: `${kind.charAt(0)}_${login}`,
    login,
    name: null,
    url: `${site}/${login}`,
    projectV2({ number }: { number: number }): View {
      needScope('projectV2', ['read:project', 'project']);
      const found = cloud.projects.find(
        (one) => one.number === number && one.owner.toLowerCase() === login.toLowerCase(),
      );
      if (found === undefined) throw notResolved(`a ProjectV2 with the number ${number}.`);
      return project(found);
    },
  });

  const project = (row: ProjectRow): View => ({
    __typename: 'ProjectV2',
    id: `PVT_${row.id}`,
    number: row.number,
    title: row.title,
    closed: false,
    owner: () => owner(row.owner),
    url: `${site}/${cloud.organization(row.owner) ? 'orgs' : 'users'}/${row.owner}/projects/${row.number}`,
    field: ({ name }: { name: string }) => (name === 'Status' ? statusField(row) : null),
    items: (page: Page) => connection(row.items, page, (item) => projectItem(row, item)),
  });

  const projectItem = (row: ProjectRow, item: ProjectItemRow): View => {
    const option = row.statuses.find(({ id }) => id === item.status);
    const status = option && {
      __typename: 'ProjectV2ItemFieldSingleSelectValue',
      id: `PVTFSV_${item.id}`,
      name: option.name,
      optionId: option.id,
      updatedAt: timeOf(item.updatedAt),
      field: statusField(row),
    };
    return {
      __typename: 'ProjectV2Item',
      id: `PVTI_${item.id}`,
      type: 'ISSUE',
      isArchived: false,
      creator: user(item.creator),
      createdAt: timeOf(item.createdAt),
      updatedAt: timeOf(item.updatedAt),
      project: () => project(row),
      content: () => {
        const placed = issueById(cloud, item.issueId);
        return placed === undefined ? null : issue(placed);
      },
      fieldValueByName: ({ name }: { name: string }) => (name === 'Status' ? (status ?? null) : null),
    };
  };

  /** A token without the scope gets the vendor's error, and the rest of the answer. */
  const needScope = (field: string, accepted: readonly string[]): void => {
    if (accepted.some((scope) => caller.scopes.includes(scope))) return;
    const named = (scopes: readonly string[]): string => scopes.map((scope) => `'${scope}'`).join(', ');
    throw new GraphQLError(
      `Your token has not been granted the required scopes to execute this query. The '${field}' field requires one of the following scopes: [${named(accepted.slice(0, 1))}], but your token has only been granted the: [${named(caller.scopes)}] scopes.`,
      { extensions: { type: 'INSUFFICIENT_SCOPES' } },
    );
  };

  return { repository, pullRequest, issue, comment, user, owner, project, projectItem, needScope };
}

function statusField({ fieldId, statuses }: ProjectRow): View {
  return {
    __typename: 'ProjectV2SingleSelectField',
    id: `PVTSSF_${fieldId}`,
    name: 'Status',
    options: ({ names }: { names?: string[] }) =>
      statuses.filter(({ name }) => names?.includes(name) ?? true),
  };
}

/** What `gh` asks of every issue and pull request, and the fake does not have. */
const emptyThread = { milestone: null, reactionGroups: [], projectCards: { nodes: [], totalCount: 0 } };

function label({ id, name, color, description }: LabelRow): View {
  return { __typename: 'Label', id: `LA_${id}`, name, color, description };
}

function issueFilter({ states, labels, filterBy = {} }: Listing): (row: IssueRow) => boolean {
  const since = Date.parse(filterBy.since ?? '') || 0;
  const wantedStates = states ?? filterBy.states;
  const wantedLabels = labels ?? filterBy.labels ?? [];
  return (row) =>
    (wantedStates?.includes(row.state.toUpperCase()) ?? true) &&
    (wantedLabels.length === 0 || wantedLabels.some((name) => row.labels.includes(name))) &&
    (filterBy.createdBy ?? row.author) === row.author &&
    (filterBy.assignee === undefined ||
      filterBy.assignee === null ||
      row.assignees.includes(filterBy.assignee)) &&
    row.updatedAt >= since;
}

function ordered<Row extends { createdAt: number; updatedAt: number }>(
  rows: readonly Row[],
  { orderBy }: Listing,
): Row[] {
  const key = orderBy?.field === 'UPDATED_AT' ? 'updatedAt' : 'createdAt';
  const sorted = rows.toSorted((one, other) => one[key] - other[key]);
  return orderBy?.direction === 'DESC' ? sorted.toReversed() : sorted;
}

/** A page of rows. The cursor of a row is its place in the list. A size is needed for rows, not for their number. */
function connection<Row>(rows: readonly Row[], page: Page, view: (row: Row) => View): View {
  const bounds = (): [start: number, end: number] => {
    const size = page.first ?? page.last;
    if (typeof size !== 'number')
      throw new GraphQLError('You must provide a `first` or `last` value to properly paginate');
    if (size < 0 || size > LARGEST_PAGE)
      throw new GraphQLError(`Requesting ${size} records exceeds the limit of 100`);
    const from = typeof page.after === 'string' ? Number(page.after) + 1 : 0;
    const to = typeof page.before === 'string' ? Number(page.before) : rows.length;
    return typeof page.first === 'number'
      ? [from, Math.min(to, from + size)]
      : [Math.max(from, to - size), to];
  };
  return {
    totalCount: rows.length,
    nodes: () => rows.slice(...bounds()).map((row) => view(row)),
    pageInfo: () => {
      const [start, end] = bounds();
      const isEmpty = start >= end;
      return {
        hasNextPage: end < rows.length,
        hasPreviousPage: start > 0,
        startCursor: isEmpty ? null : String(start),
        endCursor: isEmpty ? null : String(end - 1),
      };
    },
  };
}

function inCamelCase(summary: unknown): View {
  return Object.fromEntries(
    Object.entries(summary as View).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export function notResolved(what: string): GraphQLError {
  return new GraphQLError(`Could not resolve to ${what}`, { extensions: { type: 'NOT_FOUND' } });
}
