// Everything that changes an issue or a project's item, by whomever: a test, the REST API or GraphQL. The change is made
// at once; the promise ends when the hooks have received what happened.
import type { JsonObject } from '../payloads/examples.ts';
import {
  type CodehostCloud,
  type CommentRow,
  fullNameOf,
  type IssueRow,
  labelOf,
  type ProjectItemRow,
  type ProjectRow,
  type RepoRow,
  viewer,
} from './cloud.ts';
import type { Deliverer } from './deliver.ts';
import {
  accountView,
  commentView,
  issueById,
  issueView,
  labelView,
  organizationView,
  projectItemView,
  repositoryView,
} from './issue-views.ts';

export type IssueChange = Partial<Pick<IssueRow, 'title' | 'body' | 'state' | 'labels' | 'assignees'>> & {
  stateReason?: IssueRow['stateReason'];
};

type NewIssue = Pick<IssueRow, 'title'> & Partial<Pick<IssueRow, 'body' | 'labels' | 'assignees'>>;

export type Issues = ReturnType<typeof createIssues>;

export function createIssues(cloud: CodehostCloud, deliverer: Deliverer) {
  const { now, nextId } = cloud;

  const find = (fullName: string, number: number): { repo: RepoRow; row: IssueRow } => {
    const repo = cloud.repoOf(fullName);
    const row = repo.issues.find((one) => one.number === number);
    if (row === undefined) throw new Error(`no issue ${fullName}#${number}`);
    return { repo, row };
  };

  /** Sends an event about an issue; the payload shows the issue as it is now. */
  const send = async (
    event: string,
    action: string,
    repo: RepoRow,
    by: string,
    more: JsonObject,
  ): Promise<void> => {
    const organization = cloud.organization(repo.owner);
    await deliverer.emit(fullNameOf(repo), event, {
      action,
      ...more,
      repository: repositoryView(cloud, repo),
      ...(organization && { organization: organizationView(organization.login) }),
      sender: accountView(by),
    });
  };

  const sendIssue = (
    action: string,
    repo: RepoRow,
    row: IssueRow,
    by: string,
    more: JsonObject = {},
  ): Promise<void> => send('issues', action, repo, by, { issue: issueView(cloud, { repo, row }), ...more });

  const note = (row: IssueRow, event: string, actor: string, more: object = {}): void =>
    void row.events.push({ id: nextId(), event, actor, createdAt: now(), ...more });

  /** Makes a change and returns the deliveries that it causes, one for each thing that is different. */
  const apply = (repo: RepoRow, row: IssueRow, change: IssueChange, by: string): (() => Promise<void>)[] => {
    const before = { ...row };
    const labels = change.labels?.map((name) => labelOf(repo, name, nextId).name);
    const { stateReason, ...others } = change;
    Object.assign(row, others, { updatedAt: now() }, labels && { labels: [...new Set(labels)] });
    const isClosed = row.state === 'closed';
    if (row.state !== before.state || (isClosed && stateReason !== undefined)) {
      row.stateReason = isClosed ? (stateReason ?? 'completed') : 'reopened';
      row.closedAt = isClosed ? now() : null;
      row.closedBy = isClosed ? by : null;
    }
    const sending: [action: string, more: JsonObject][] = [];
    const edited = (['title', 'body'] as const).filter((name) => row[name] !== before[name]);
    if (edited.length > 0) {
      const changes = Object.fromEntries(edited.map((name) => [name, { from: before[name] ?? '' }]));
      sending.push(['edited', { changes }]);
    }
    for (const [action, names] of differences(before.labels, row.labels, ['labeled', 'unlabeled']))
      for (const name of names) {
        note(row, action, by, { label: name });
        sending.push([action, { label: labelView(repo, labelOf(repo, name, nextId)) }]);
      }
    for (const [action, names] of differences(before.assignees, row.assignees, ['assigned', 'unassigned']))
      for (const login of names) {
        note(row, action, by, { assignee: login });
        sending.push([action, { assignee: accountView(login) }]);
      }
    if (row.state !== before.state) {
      const action = isClosed ? 'closed' : 'reopened';
      note(row, action, by);
      sending.push([action, {}]);
    }
    return sending.map(
      ([action, more]) =>
        () =>
          sendIssue(action, repo, row, by, more),
    );
  };

  const update = async (
    fullName: string,
    number: number,
    change: IssueChange,
    by = viewer,
  ): Promise<IssueRow> => {
    const { repo, row } = find(fullName, number);
    await inTurn(apply(repo, row, change, by));
    return row;
  };

  /** Both sides of a relation hear of it. */
  const sendRelation = async (
    event: string,
    sides: readonly [name: string, action: string, id: number][],
    by: string,
  ): Promise<void> => {
    const placed = sides.map(([name, action, id]) => ({
      name,
      action,
      ...(issueById(cloud, id) ?? fail(id)),
    }));
    const issues = Object.fromEntries(
      placed.flatMap(({ name, repo, row }) => [
        [`${name}_id`, row.id],
        [name, issueView(cloud, { repo, row })],
      ]),
    );
    for (const [index, { action, repo }] of placed.entries()) {
      const other = placed[1 - index];
      const otherRepo = other && { [`${other.name}_repo`]: repositoryView(cloud, other.repo) };
      await send(event, action, repo, by, { ...issues, ...otherRepo });
    }
  };

  const nest = async (child: IssueRow, parent: IssueRow, isAdded: boolean, by: string): Promise<void> => {
    child.parentId = isAdded ? parent.id : null;
    const done = isAdded ? 'added' : 'removed';
    const sides = [
      ['parent_issue', `sub_issue_${done}`, parent.id],
      ['sub_issue', `parent_issue_${done}`, child.id],
    ] as const;
    await sendRelation(
      'sub_issues',
      sides.map((side) => [...side]),
      by,
    );
  };

  const depend = async (
    blocked: IssueRow,
    blocking: IssueRow,
    isAdded: boolean,
    by: string,
  ): Promise<void> => {
    blocked.blockedBy = blocked.blockedBy.filter((id) => id !== blocking.id);
    if (isAdded) blocked.blockedBy.push(blocking.id);
    const done = isAdded ? 'added' : 'removed';
    const sides = [
      ['blocked_issue', `blocked_by_${done}`, blocked.id],
      ['blocking_issue', `blocking_${done}`, blocking.id],
    ] as const;
    await sendRelation(
      'issue_dependencies',
      sides.map((side) => [...side]),
      by,
    );
  };

  const sendItem = async (
    action: string,
    project: ProjectRow,
    item: ProjectItemRow,
    by: string,
    more: JsonObject = {},
  ): Promise<void> => {
    const organization = cloud.organization(project.owner);
    // The vendor has no hooks of users, so nobody hears of a user's project.
    if (organization === undefined) return;
    await deliverer.emit(organization.login, 'projects_v2_item', {
      action,
      projects_v2_item: projectItemView(project, item),
      ...more,
      organization: organizationView(organization.login),
      sender: accountView(by),
    });
  };

  const addToProject = (
    project: ProjectRow,
    issue: IssueRow,
    by = viewer,
  ): [ProjectItemRow, Promise<void>] => {
    const found = project.items.find(({ issueId }) => issueId === issue.id);
    if (found !== undefined) return [found, Promise.resolve()];
    const times = { createdAt: now(), updatedAt: now() };
    const item: ProjectItemRow = { id: nextId(), issueId: issue.id, status: null, creator: by, ...times };
    project.items.push(item);
    return [item, sendItem('created', project, item, by)];
  };

  /** `status` is the id of an option. */
  const setItemStatus = async (
    project: ProjectRow,
    item: ProjectItemRow,
    status: string | null,
    by = viewer,
  ): Promise<void> => {
    const optionOf = (id: string | null) => project.statuses.find((option) => option.id === id) ?? null;
    const [from, to] = [optionOf(item.status), optionOf(status)];
    Object.assign(item, { status, updatedAt: now() });
    const field = { field_node_id: `PVTSSF_${project.fieldId}`, field_type: 'single_select' };
    const field_value = { ...field, field_name: 'Status', project_number: project.number, from, to };
    await sendItem('edited', project, item, by, { changes: { field_value } });
  };

  return {
    find,
    update,
    nest,
    depend,
    addToProject,
    setItemStatus,
    /** `issues.open('acme/web', { title: 'Slow', labels: ['bug'] }, 'lee')` */
    async open(
      fullName: string,
      { title, body = null, ...rest }: NewIssue,
      author = viewer,
    ): Promise<IssueRow> {
      const row = cloud.addIssue(fullName, { title, body, author });
      const repo = cloud.repoOf(fullName);
      const labelled = apply(repo, row, rest, author);
      await inTurn([() => sendIssue('opened', repo, row, author), ...labelled]);
      return row;
    },
    label: (fullName: string, number: number, name: string, by?: string): Promise<IssueRow> =>
      update(fullName, number, { labels: [...find(fullName, number).row.labels, name] }, by),
    unlabel: (fullName: string, number: number, name: string, by?: string): Promise<IssueRow> =>
      update(fullName, number, { labels: without(find(fullName, number).row.labels, name) }, by),
    assign: (fullName: string, number: number, login: string, by?: string): Promise<IssueRow> =>
      update(fullName, number, { assignees: [...find(fullName, number).row.assignees, login] }, by),
    unassign: (fullName: string, number: number, login: string, by?: string): Promise<IssueRow> =>
      update(fullName, number, { assignees: without(find(fullName, number).row.assignees, login) }, by),
    close: (
      fullName: string,
      number: number,
      stateReason: IssueRow['stateReason'] = 'completed',
      by?: string,
    ): Promise<IssueRow> => update(fullName, number, { state: 'closed', stateReason }, by),
    reopen: (fullName: string, number: number, by?: string): Promise<IssueRow> =>
      update(fullName, number, { state: 'open' }, by),
    async comment(fullName: string, number: number, body: string, author = viewer): Promise<CommentRow> {
      const { repo, row } = find(fullName, number);
      const times = { createdAt: now(), updatedAt: now() };
      const comment: CommentRow = { id: nextId(), author, body, ...times };
      row.comments.push(comment);
      row.updatedAt = now();
      const issue = issueView(cloud, { repo, row });
      await send('issue_comment', 'created', repo, author, {
        issue,
        comment: commentView(repo, row, comment),
      });
      return comment;
    },
    async remove(fullName: string, number: number, by = viewer): Promise<void> {
      const { repo, row } = find(fullName, number);
      const issue = issueView(cloud, { repo, row });
      repo.issues.splice(repo.issues.indexOf(row), 1);
      repo.goneIssues.set(number, null);
      await send('issues', 'deleted', repo, by, { issue });
    },
    /** The issue gets a new id and a new number. */
    async transfer(fullName: string, number: number, to: string, by = viewer): Promise<IssueRow> {
      const { repo, row } = find(fullName, number);
      const old_issue = issueView(cloud, { repo, row });
      const { id: _id, number: _number, ...kept } = row;
      repo.issues.splice(repo.issues.indexOf(row), 1);
      const moved = cloud.addIssue(to, { ...kept, updatedAt: now() });
      repo.goneIssues.set(number, `${to}#${moved.number}`);
      const target = cloud.repoOf(to);
      const new_issue = issueView(cloud, { repo: target, row: moved });
      const new_repository = repositoryView(cloud, target);
      await send('issues', 'transferred', repo, by, {
        issue: old_issue,
        changes: { new_issue, new_repository },
      });
      const changes = { old_issue, old_repository: repositoryView(cloud, repo) };
      await sendIssue('opened', target, moved, by, { changes });
      return moved;
    },
    /** Both as numbers of one repository. */
    addSubIssue: (fullName: string, parent: number, child: number, by = viewer): Promise<void> =>
      nest(find(fullName, child).row, find(fullName, parent).row, true, by),
    /** The first is blocked by the second; `isBlocked` false ends it. */
    block: (
      fullName: string,
      blocked: number,
      blocking: number,
      isBlocked = true,
      by = viewer,
    ): Promise<void> => depend(find(fullName, blocked).row, find(fullName, blocking).row, isBlocked, by),
    /** Moves the issue to the status of that name, and puts it into the project first if it is not there. */
    async setStatus(
      project: ProjectRow,
      fullName: string,
      number: number,
      name: string | null,
      by = viewer,
    ): Promise<void> {
      const [item, added] = addToProject(project, find(fullName, number).row, by);
      const option = project.statuses.find((one) => one.name === name);
      if (name !== null && option === undefined) throw new Error(`the project has no status ${name}`);
      const changed = setItemStatus(project, item, option?.id ?? null, by);
      await Promise.all([added, changed]);
    },
  };
}

function without(names: readonly string[], name: string): string[] {
  return names.filter((one) => one.toLowerCase() !== name.toLowerCase());
}

function differences(
  before: readonly string[],
  after: readonly string[],
  [added, removed]: readonly [string, string],
): [string, string[]][] {
  return [
    [added, after.filter((name) => !before.includes(name))],
    [removed, before.filter((name) => !after.includes(name))],
  ];
}

async function inTurn(steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) await step();
}

function fail(id: number): never {
  throw new Error(`no issue with the id ${id}`);
}
