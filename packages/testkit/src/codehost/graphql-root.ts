// The operations of the GraphQL API: queries, and mutations through the same functions as those of a test.
import { GraphQLError } from 'graphql';
import {
  type CodehostCloud,
  fullNameOf,
  type LabelRow,
  nextNumber,
  type ProjectRow,
  type RepoRow,
} from './cloud.ts';
import { type Caller, createViews, notResolved, type View } from './graphql-views.ts';
import { allIssues, type PlacedIssue } from './issue-views.ts';
import type { Issues } from './issues.ts';

type Input<Fields> = { input: Fields };
type IssueInput = { title?: string; body?: string; labelIds?: string[]; assigneeIds?: string[] };

export function createRoot(cloud: CodehostCloud, issues: Issues, caller: Caller): View {
  const views = createViews(cloud, caller);
  const by = caller.login;

  const found = <Row>(id: string, row: Row | undefined): Row => {
    if (row === undefined) throw notResolved(`a node with the global id of '${id}'.`);
    return row;
  };
  const repoById = (id: string): RepoRow =>
    found(
      id,
      cloud.repos().find((repo) => `R_${repo.id}` === id),
    );
  const issueOf = (id: string): PlacedIssue =>
    found(
      id,
      allIssues(cloud).find(({ row }) => `I_${row.id}` === id),
    );
  const projectOf = (id: string): ProjectRow =>
    found(
      id,
      cloud.projects.find((project) => `PVT_${project.id}` === id),
    );
  const labelNames = (repo: RepoRow, ids: readonly string[]): string[] =>
    ids.map(
      (id) =>
        found<LabelRow>(
          id,
          repo.labels.find((label) => `LA_${label.id}` === id),
        ).name,
    );
  const logins = (ids: readonly string[]): string[] => ids.map((id) => id.replace(/^U_/, ''));

  const node = ({ id }: { id: string }): View => {
    if (id.startsWith('I_')) return views.issue(issueOf(id));
    if (id.startsWith('R_')) return views.repository(repoById(id));
    if (id.startsWith('PVT_')) {
      views.needScope('node', ['read:project', 'project']);
      return views.project(projectOf(id));
    }
    const placed = cloud.repos().flatMap((repo) => repo.pullRequests.map((row) => ({ repo, row })));
    const pullRequest = found(
      id,
      placed.find(({ repo, row }) => `PR_${repo.id}_${row.number}` === id),
    );
    return views.pullRequest(pullRequest.repo, pullRequest.row);
  };

  const owner = (kind: 'Organization' | 'User', login: string): View => {
    const isOrganization = cloud.organization(login) !== undefined;
    if (isOrganization === (kind === 'Organization')) return views.owner(login);
    throw notResolved(`${kind === 'User' ? 'a User' : 'an Organization'} with the login of '${login}'.`);
  };

  /** The parts of an input that are given; null is not. */
  const changeIn = (repo: RepoRow, { title, body, labelIds, assigneeIds }: IssueInput) => ({
    ...(typeof title === 'string' && { title }),
    ...(typeof body === 'string' && { body }),
    ...(labelIds && { labels: labelNames(repo, labelIds) }),
    ...(assigneeIds && { assignees: logins(assigneeIds) }),
  });

  const changed = ({ repo, row }: PlacedIssue, change: Parameters<Issues['update']>[2]): View => {
    void issues.update(fullNameOf(repo), row.number, change, by);
    return views.issue({ repo, row });
  };

  return {
    viewer: () => views.user(by),
    repository({ owner: login, name }: { owner: string; name: string }): View {
      const repo = cloud.find(`${login}/${name}`);
      if (repo === undefined) throw notResolved(`a Repository with the name '${login}/${name}'.`);
      return views.repository(repo.repo);
    },
    organization: ({ login }: { login: string }) => owner('Organization', login),
    user: ({ login }: { login: string }) => owner('User', login),
    node,
    nodes: ({ ids }: { ids: string[] }) => ids.map(async (id) => node({ id })),

    addProjectV2ItemById({ input }: Input<{ projectId: string; contentId: string }>): View {
      views.needScope('addProjectV2ItemById', ['project']);
      const project = projectOf(input.projectId);
      const [item] = issues.addToProject(project, issueOf(input.contentId).row, by);
      return { item: views.projectItem(project, item) };
    },
    updateProjectV2ItemFieldValue({
      input,
    }: Input<{
      projectId: string;
      itemId: string;
      fieldId: string;
      value: { singleSelectOptionId?: string };
    }>): View {
      views.needScope('updateProjectV2ItemFieldValue', ['project']);
      const project = projectOf(input.projectId);
      const item = found(
        input.itemId,
        project.items.find(({ id }) => `PVTI_${id}` === input.itemId),
      );
      if (input.fieldId !== `PVTSSF_${project.fieldId}`) throw notResolved(`a field '${input.fieldId}'.`);
      const status = input.value.singleSelectOptionId ?? '';
      if (!project.statuses.some(({ id }) => id === status))
        throw unprocessable('The single select option Id does not belong to the field');
      void issues.setItemStatus(project, item, status, by);
      return { projectV2Item: views.projectItem(project, item) };
    },

    createIssue({ input }: Input<IssueInput & { repositoryId: string; title: string }>): View {
      const repo = repoById(input.repositoryId);
      void issues.open(fullNameOf(repo), { ...changeIn(repo, input), title: input.title }, by);
      const row = repo.issues.at(-1);
      return { issue: row && views.issue({ repo, row }) };
    },
    updateIssue({ input }: Input<IssueInput & { id: string }>): View {
      const placed = issueOf(input.id);
      return { issue: changed(placed, changeIn(placed.repo, input)) };
    },
    closeIssue({ input }: Input<{ issueId: string; stateReason?: string }>): View {
      const stateReason = input.stateReason === 'NOT_PLANNED' ? 'not_planned' : 'completed';
      return { issue: changed(issueOf(input.issueId), { state: 'closed', stateReason }) };
    },
    reopenIssue: ({ input }: Input<{ issueId: string }>) => ({
      issue: changed(issueOf(input.issueId), { state: 'open' }),
    }),
    addLabelsToLabelable({ input }: Input<{ labelableId: string; labelIds: string[] }>): View {
      const placed = issueOf(input.labelableId);
      const labels = [...placed.row.labels, ...labelNames(placed.repo, input.labelIds)];
      return { labelable: changed(placed, { labels }) };
    },
    removeLabelsFromLabelable({ input }: Input<{ labelableId: string; labelIds: string[] }>): View {
      const placed = issueOf(input.labelableId);
      const removed = labelNames(placed.repo, input.labelIds);
      const labels = placed.row.labels.filter((name) => !removed.includes(name));
      return { labelable: changed(placed, { labels }) };
    },
    addComment({ input }: Input<{ subjectId: string; body: string }>): View {
      const placed = issueOf(input.subjectId);
      void issues.comment(fullNameOf(placed.repo), placed.row.number, input.body, by);
      const comment = placed.row.comments.at(-1);
      return {
        commentEdge: { cursor: '0', node: comment && views.comment(placed, comment) },
        subject: views.issue(placed),
      };
    },

    createPullRequest({ input }: Input<NewPullRequest>): View {
      const repo = repoById(input.repositoryId);
      const branch = input.headRefName.replace(/^.*:/, '');
      if (repo.pullRequests.some((one) => one.state === 'OPEN' && one.branch === branch))
        throw unprocessable(`A pull request already exists for ${repo.owner}:${branch}.`);
      const row = cloud.addPullRequest(fullNameOf(repo), {
        number: nextNumber(repo),
        title: input.title,
        body: input.body ?? null,
        branch,
        base: input.baseRefName,
        isDraft: input.draft ?? false,
        author: by,
      });
      return { pullRequest: views.pullRequest(repo, row) };
    },
  };
}

type NewPullRequest = {
  repositoryId: string;
  title: string;
  body?: string;
  headRefName: string;
  baseRefName: string;
  draft?: boolean;
};

function unprocessable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type: 'UNPROCESSABLE' } });
}
