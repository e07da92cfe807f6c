// Rows as GraphQL shows them: what a row refers to is found when somebody asks for it.
import { type TrackerCloud, teamOf } from './cloud.ts';
import { type Connection, connectionOf, type PageArguments } from './connection.ts';
import { type NameFilter, passesNames } from './filters.ts';
import type { IssueRow, LabelRow, RelationRow, StateRow, TeamRow, WebhookRow } from './records.ts';

type View = Record<string, unknown>;
type Listing = PageArguments & { filter?: NameFilter };

const priorityLabels = ['No priority', 'Urgent', 'High', 'Medium', 'Low'];

export function createViews(cloud: TrackerCloud, pageLimit: number) {
  const page = <R extends Parameters<typeof connectionOf>[0][number] & { name?: string }>(
    rows: R[],
    { filter, ...listing }: Listing,
    view: (row: R) => View,
  ): Connection<View> =>
    connectionOf(
      rows.filter((row) => passesNames(row, filter)),
      listing,
      pageLimit,
      view,
    );
  const userById = (id: string | null) => cloud.users.find((user) => user.id === id) ?? null;

  const team = (row: TeamRow): View => ({
    ...row,
    states: (listing: Listing) => page(cloud.statesOf(row.id), listing, state),
  });
  const state = (row: StateRow): View => ({ ...row, team: () => team(teamOf(cloud, row.teamId)) });
  const label = (row: LabelRow): View => ({
    ...row,
    team: () => (row.teamId === null ? null : team(teamOf(cloud, row.teamId))),
  });
  const issue = (row: IssueRow): View => ({
    ...row,
    identifier: cloud.identifierOf(row),
    url: `https://tracker.example/issue/${cloud.identifierOf(row)}`,
    priorityLabel: priorityLabels[row.priority] ?? '',
    team: () => team(teamOf(cloud, row.teamId)),
    assignee: () => userById(row.assigneeId),
    parent: () => (row.parentId === null ? null : issue(cloud.issueOf(row.parentId))),
    state: () => {
      const found = cloud.states.find(({ id }) => id === row.stateId);
      return found ? state(found) : null;
    },
    inverseRelations: (listing: PageArguments) =>
      connectionOf(
        cloud.relations.filter(({ relatedIssueId }) => relatedIssueId === row.id),
        listing,
        pageLimit,
        relation,
      ),
    labels: (listing: Listing) =>
      page(
        cloud.labels.filter(({ id }) => row.labelIds.includes(id)),
        listing,
        label,
      ),
  });
  const relation = (row: RelationRow): View => ({
    ...row,
    issue: () => issue(cloud.issueOf(row.issueId)),
    relatedIssue: () => issue(cloud.issueOf(row.relatedIssueId)),
  });
  /** The secret is told when the webhook is created, and never again. */
  const webhook = (row: WebhookRow, secret: string | null = null): View => ({
    ...row,
    secret,
    team: () => (row.teamId === null ? null : team(teamOf(cloud, row.teamId))),
    creator: () => userById(row.creatorId),
  });
  return { page, team, state, label, issue, webhook };
}
