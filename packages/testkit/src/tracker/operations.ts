// The tracker's queries and mutations over the rows.
import {
  type CommentRow,
  type IssueRow,
  type LabelRow,
  type RelationRow,
  type StateRow,
  type TeamRow,
  type TrackerCloud,
  teamOf,
  type UserRow,
  type WebhookRow,
} from './cloud.ts';

import { notFound, Refusal } from './faults.ts';

// Rows in GraphQL form: references are resolved when they are requested.

type View = Record<string, unknown>;
type Listing = PageArguments & { filter?: NameFilter };

const priorityLabels = ['No priority', 'Urgent', 'High', 'Medium', 'Low'];

function createViews(cloud: TrackerCloud, pageLimit: number) {
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
    creator: () => userById(row.creatorId),
    attachments: (listing: PageArguments) =>
      connectionOf(
        cloud.attachments.filter(({ issueId }) => issueId === row.id),
        listing,
        pageLimit,
        (attachment) => ({ ...attachment }),
      ),
    comments: (listing: PageArguments) =>
      connectionOf(
        cloud.comments.filter(({ issueId }) => issueId === row.id),
        listing,
        pageLimit,
        comment,
      ),
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
  const comment = (row: CommentRow): View => ({
    ...row,
    user: () => userById(row.userId),
    botActor: row.bot === null ? null : { name: row.bot },
  });
  const relation = (row: RelationRow): View => ({
    ...row,
    issue: () => issue(cloud.issueOf(row.issueId)),
    relatedIssue: () => issue(cloud.issueOf(row.relatedIssueId)),
  });
  /** The secret is returned when the webhook is created, and never again. */
  const webhook = (row: WebhookRow, secret: string | null = null): View => ({
    ...row,
    secret,
    team: () => (row.teamId === null ? null : team(teamOf(cloud, row.teamId))),
    creator: () => userById(row.creatorId),
  });
  return { page, team, state, label, issue, webhook };
}

/** Resource types that the tracker can send, which does not include `IssueRelation`. */
export const deliveredResourceTypes = [
  'Attachment',
  'Comment',
  'Cycle',
  'Document',
  'Issue',
  'IssueLabel',
  'Project',
  'ProjectUpdate',
  'Reaction',
  'User',
];

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

type ListingOf<F> = PageArguments & { filter?: F };
type IssueInput = Partial<
  Pick<IssueRow, 'id' | 'title' | 'description' | 'stateId' | 'priority' | 'labelIds' | 'trashed'>
>;
type LabelInput = Pick<LabelRow, 'name'> & Partial<LabelRow>;
type WebhookInput = Partial<WebhookRow> & Pick<WebhookRow, 'url' | 'resourceTypes'>;

/** The root for one request of one user. */
export function createOperations(cloud: TrackerCloud, viewer: UserRow, pageLimit: number) {
  const views = createViews(cloud, pageLimit);
  const done = { success: true, lastSyncId: 1 };
  return {
    viewer: () => viewer,
    team: ({ id }: { id: string }) => views.team(teamOf(cloud, id)),
    teams: (listing: ListingOf<NameFilter>) => views.page(cloud.teams, listing, views.team),
    issue: ({ id }: { id: string }) => views.issue(cloud.issueOf(id)),
    issues: ({ filter, ...listing }: ListingOf<IssueFilter>) =>
      connectionOf(
        cloud.issues.filter((row) => passesIssue(cloud, row, filter)),
        listing,
        pageLimit,
        views.issue,
      ),
    issueLabels: (listing: ListingOf<NameFilter>) => views.page(cloud.labels, listing, views.label),
    webhooks(listing: PageArguments) {
      demandAdmin(viewer);
      return connectionOf(cloud.webhooks, listing, pageLimit, (row) => views.webhook(row));
    },

    issueCreate({ input }: { input: IssueInput & { teamId: string; title?: string } }) {
      const team = teamOf(cloud, input.teamId);
      checkState(cloud, team.id, input.stateId);
      checkLabels(cloud, team.id, input.labelIds ?? []);
      checkNewId(cloud.issues, input.id);
      const row = cloud.addIssue({ title: '', ...input, teamId: team.id });
      return { ...done, issue: () => views.issue(row) };
    },
    issueLabelCreate({ input }: { input: LabelInput }) {
      const teamId = typeof input.teamId !== 'string' ? null : teamOf(cloud, input.teamId).id;
      checkNewId(cloud.labels, input.id);
      const isTaken = cloud.labels.some(
        (label) =>
          label.name.toLowerCase() === input.name.toLowerCase() &&
          (label.teamId === null || teamId === null || label.teamId === teamId),
      );
      if (isTaken) throw new Refusal('INPUT_ERROR', 'Duplicate label name');
      const row = cloud.addLabel({ ...input, teamId });
      return { ...done, issueLabel: () => views.label(row) };
    },
    issueUpdate({ id, input }: { id: string; input: IssueInput }) {
      checkState(cloud, cloud.issueOf(id).teamId, input.stateId);
      const row = cloud.changeIssue(id, input);
      return { ...done, issue: () => views.issue(row) };
    },
    webhookCreate({ input }: { input: WebhookInput }) {
      demandAdmin(viewer);
      checkWebhook(input);
      const teamId = typeof input.teamId !== 'string' ? null : teamOf(cloud, input.teamId).id;
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
      const row = cloud.addWebhook({ ...(given as WebhookInput), teamId, creatorId: viewer.id });
      return { ...done, webhook: () => views.webhook(row, row.secret) };
    },
    webhookDelete({ id }: { id: string }) {
      demandAdmin(viewer);
      const index = cloud.webhooks.findIndex((row) => row.id === id);
      if (index === -1) throw notFound('Webhook');
      cloud.webhooks.splice(index, 1);
      return { ...done, entityId: id };
    },
  };
}

function passesIssue(cloud: TrackerCloud, row: IssueRow, filter: IssueFilter | undefined): boolean {
  const state = cloud.states.find(({ id }) => id === row.stateId);
  return (
    passes(row.title, filter?.title) &&
    passes(row.description, filter?.description) &&
    passes(row.number, filter?.number) &&
    passesTime(row.updatedAt, filter?.updatedAt) &&
    passesNames(teamOf(cloud, row.teamId), filter?.team) &&
    (state === undefined || passesNames(state, filter?.state))
  );
}

function demandAdmin(viewer: UserRow): void {
  if (!viewer.admin) throw new Refusal('FORBIDDEN', 'You need to be an admin to manage webhooks.');
}

function checkState(cloud: TrackerCloud, teamId: string, stateId: string | undefined): void {
  if (stateId !== undefined && !cloud.statesOf(teamId).some(({ id }) => id === stateId))
    throw notFound('WorkflowState');
}

/** The caller may choose the id, once. */
function checkNewId(rows: readonly { id: string }[], id: string | undefined): void {
  if (id === undefined) return;
  if (!UUID_V4.test(id)) throw new Refusal('INPUT_ERROR', 'Argument Validation Error: id must be a UUID');
  if (rows.some((row) => row.id === id))
    throw new Refusal('INPUT_ERROR', 'Entity with this id already exists');
}

function checkLabels(cloud: TrackerCloud, teamId: string, ids: readonly string[]): void {
  for (const id of ids) {
    const label = cloud.labels.find((row) => row.id === id);
    if (!label) throw notFound('IssueLabel');
    if (label.isGroup) throw new Refusal('INPUT_ERROR', 'A label group cannot be set on an issue');
    if (label.teamId !== null && label.teamId !== teamId)
      throw new Refusal('INPUT_ERROR', 'The label belongs to another team');
  }
}

function checkWebhook(input: WebhookInput): void {
  const unknown = input.resourceTypes.filter((type) => !deliveredResourceTypes.includes(type));
  if (!URL.canParse(input.url)) throw new Refusal('INPUT_ERROR', 'url must be a URL address');
  if (input.resourceTypes.length === 0 || unknown.length > 0)
    throw new Refusal('INPUT_ERROR', `resourceTypes is not valid: ${unknown.join(', ')}`);
  if (typeof input.teamId !== 'string' && input.allPublicTeams !== true)
    throw new Refusal('INPUT_ERROR', 'Either teamId or allPublicTeams has to be given');
}

// Pages of a list, as from the tracker: newest first, 50 by default, at most 250, with cursors that survive changes.

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 250;

export type PageArguments = {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  includeArchived?: boolean | null;
  orderBy?: 'createdAt' | 'updatedAt' | null;
};

type Sortable = { id: string; createdAt: string; updatedAt: string; archivedAt: string | null };

export type Connection<Shown> = {
  nodes: Shown[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
};

/** One page of rows. `pageLimit` makes pages smaller than requested, as a busy server may. */
function connectionOf<R extends Sortable, Shown>(
  rows: readonly R[],
  page: PageArguments,
  pageLimit: number,
  view: (row: R) => Shown,
): Connection<Shown> {
  const size = page.last ?? page.first ?? DEFAULT_PAGE;
  if (size < 1 || size > LARGEST_PAGE) throw new Refusal('INPUT_ERROR', 'Argument Validation Error');
  const place = (row: R): string => `${row[page.orderBy ?? 'createdAt']}|${row.id}`;
  const all = rows
    .filter((row) => page.includeArchived === true || row.archivedAt === null)
    .toSorted((one, other) => (place(one) < place(other) ? 1 : -1));
  const [after, before] = [placeAt(page.after), placeAt(page.before)];
  const within = all
    .filter((row) => after === undefined || place(row) < after)
    .filter((row) => before === undefined || place(row) > before);
  const count = Math.min(size, pageLimit);
  const shown = typeof page.last !== 'number' ? within.slice(0, count) : within.slice(-count);
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    nodes: shown.map(view),
    pageInfo: {
      hasNextPage: last !== undefined && all.at(-1) !== last,
      hasPreviousPage: first !== undefined && all[0] !== first,
      startCursor: first ? cursorAt(place(first)) : null,
      endCursor: last ? cursorAt(place(last)) : null,
    },
  };
}

function cursorAt(place: string): string {
  return Buffer.from(place).toString('base64url');
}

function placeAt(cursor: string | null | undefined): string | undefined {
  if (cursor === null || cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!place.includes('|')) throw new Refusal('INPUT_ERROR', 'The cursor is not valid');
  return place;
}

// The filters in our part of the tracker's schema: every given comparator must match.

type Comparator = { eq?: unknown; eqIgnoreCase?: string; in?: unknown[]; contains?: string };
type DateComparator = { eq?: string; gt?: string; gte?: string; lt?: string; lte?: string };

export type NameFilter = { id?: Comparator; key?: Comparator; name?: Comparator; type?: Comparator } | null;

export type IssueFilter = {
  description?: Comparator;
  number?: Comparator;
  state?: NameFilter;
  team?: NameFilter;
  title?: Comparator;
  updatedAt?: DateComparator;
} | null;

function passesNames(
  row: { id: string; key?: string; name?: string; type?: string },
  filter: NameFilter | undefined,
): boolean {
  return Object.entries(filter ?? {}).every(([name, comparator]) =>
    passes(row[name as keyof typeof row], comparator),
  );
}

function passes(value: unknown, comparator: Comparator | undefined): boolean {
  const { eq, eqIgnoreCase, in: list, contains } = comparator ?? {};
  if (eq !== undefined && value !== eq) return false;
  if (eqIgnoreCase !== undefined && String(value).toLowerCase() !== eqIgnoreCase.toLowerCase()) return false;
  if (contains !== undefined && !(typeof value === 'string' && value.includes(contains))) return false;
  return list === undefined || list.includes(value);
}

function passesTime(time: string, comparator: DateComparator | undefined): boolean {
  const { eq, gt, gte, lt, lte } = comparator ?? {};
  const at = Date.parse(time);
  if (eq !== undefined && at !== Date.parse(eq)) return false;
  if (gt !== undefined && !(at > Date.parse(gt))) return false;
  if (gte !== undefined && !(at >= Date.parse(gte))) return false;
  if (lt !== undefined && !(at < Date.parse(lt))) return false;
  return lte === undefined || at <= Date.parse(lte);
}
