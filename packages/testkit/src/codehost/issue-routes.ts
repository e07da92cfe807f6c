// `issues`, `labels` and what belongs to them, as published in github/docs (src/rest/data, issues). Changes go through
// the same functions as those of a test, so hooks hear of them; the answer does not wait for the hooks.
import { type Answer, type Call, invalid, notFound, numberedPage, Refusal, type Route } from './answer.ts';
import {
  type CodehostCloud,
  fullNameOf,
  type IssueRow,
  type LabelRow,
  labelOf,
  type PullRequestRow,
} from './cloud.ts';
import {
  accountView,
  blockedByIt,
  blockersOf,
  commentView,
  eventView,
  issueById,
  issueView,
  labelView,
  type PlacedIssue,
  pullRequestAsIssue,
  subIssuesOf,
} from './issue-views.ts';
import type { IssueChange, Issues } from './issues.ts';

export function issueRoutes({ cloud, issues }: { cloud: CodehostCloud; issues: Issues }): Route[] {
  const view = (placed: PlacedIssue): object => issueView(cloud, placed);

  /** One issue that exists; the number of a pull request is none. */
  const rowOf = ({ repo, parts }: Call): IssueRow => {
    const number = Number(parts[0]);
    const row = repo.issues.find((one) => one.number === number);
    if (row !== undefined) return row;
    if (repo.goneIssues.get(number) === null) throw new Refusal(410, 'This issue was deleted');
    throw notFound();
  };

  const ok = (call: Call, status = 200): Answer => ({
    status,
    body: view({ repo: call.repo, row: rowOf(call) }),
  });

  const create = ({ repo, body, login }: Call): Answer => {
    const { title, ...change } = changeIn(body);
    if (title === undefined || title === '') throw missing('title');
    void issues.open(fullNameOf(repo), { title, ...change }, login);
    return { status: 201, body: view({ repo, row: repo.issues.at(-1) ?? lost() }) };
  };

  const list = ({ repo, url }: Call): Answer => {
    const given = (name: string): string | null => url.searchParams.get(name);
    const [state, since] = [given('state') ?? 'open', Date.parse(given('since') ?? '') || 0];
    const labels = given('labels')?.split(',') ?? [];
    const key = given('sort') === 'updated' ? 'updatedAt' : 'createdAt';
    const rows = [...repo.issues, ...repo.pullRequests]
      .filter((row) => (state === 'all' || row.state.toLowerCase() === state) && row.updatedAt >= since)
      .filter((row) => labels.every((name) => isIssue(row) && row.labels.includes(name)))
      .toSorted((one, other) => one[key] - other[key] || one.number - other.number);
    return numberedPage(url, given('direction') === 'asc' ? rows : rows.toReversed(), (row) =>
      isIssue(row) ? view({ repo, row }) : pullRequestAsIssue(repo, row),
    );
  };

  const one = (call: Call): Answer => {
    const { repo, parts, base } = call;
    const pullRequest = repo.pullRequests.find(({ number }) => String(number) === parts[0]);
    if (pullRequest !== undefined) return { status: 200, body: pullRequestAsIssue(repo, pullRequest) };
    const moved = repo.goneIssues.get(Number(parts[0]));
    if (typeof moved !== 'string') return ok(call);
    const Location = `${base}/repos/${moved.replace('#', '/issues/')}`;
    return { status: 301, body: { message: 'Moved Permanently', url: Location }, headers: { Location } };
  };

  const change = (call: Call, made = changeIn(call.body)): Answer => {
    void issues.update(fullNameOf(call.repo), rowOf(call).number, made, call.login);
    return ok(call);
  };

  const comments = (call: Call): Answer => {
    const row = rowOf(call);
    return numberedPage(call.url, row.comments, (comment) => commentView(call.repo, row, comment));
  };

  const comment = (call: Call): Answer => {
    const [row, text] = [rowOf(call), call.body['body']];
    if (typeof text !== 'string' || text === '') throw missing('body');
    void issues.comment(fullNameOf(call.repo), row.number, text, call.login);
    return { status: 201, body: commentView(call.repo, row, row.comments.at(-1) ?? lost()) };
  };

  const events = (call: Call): Answer =>
    numberedPage(call.url, rowOf(call).events, (row) => eventView(call.repo, row, call.repo.labels));

  // Labels and assignees of an issue.

  const labelsOf = (call: Call): Answer => {
    const rows = rowOf(call).labels.map((name) => labelOf(call.repo, name, cloud.nextId));
    return numberedPage(call.url, rows, (label) => labelView(call.repo, label));
  };

  const setLabels = (call: Call, labels: string[]): Answer => {
    change(call, { labels });
    return labelsOf(call);
  };

  const unlabel = (call: Call): Answer => {
    const name = decodeURIComponent(call.parts[1] ?? '').toLowerCase();
    const { labels } = rowOf(call);
    const kept = labels.filter((label) => label.toLowerCase() !== name);
    if (kept.length === labels.length) throw new Refusal(404, 'Label does not exist');
    return setLabels(call, kept);
  };

  const assignees = (call: Call, isAdded: boolean): Answer => {
    const named = namesIn(call.body['assignees']) ?? [];
    const others = rowOf(call).assignees.filter((login) => !named.includes(login));
    const { body } = change(call, { assignees: isAdded ? [...others, ...named] : others });
    return { status: isAdded ? 201 : 200, body };
  };

  // Labels of the repository.

  const repoLabel = ({ repo, parts }: Call): LabelRow => {
    const name = decodeURIComponent(parts[0] ?? '').toLowerCase();
    return repo.labels.find((label) => label.name.toLowerCase() === name) ?? lost();
  };

  const addLabel = ({ repo, body }: Call): Answer => {
    const { name, color, description } = body;
    if (typeof name !== 'string' || name === '') throw missing('name');
    if (repo.labels.some((label) => label.name.toLowerCase() === name.toLowerCase()))
      throw new Refusal(422, 'Validation Failed', {
        errors: [{ resource: 'Label', code: 'already_exists', field: 'name' }],
      });
    const label = labelOf(repo, name, cloud.nextId);
    if (typeof color === 'string') label.color = color;
    if (typeof description === 'string') label.description = description;
    return { status: 201, body: labelView(repo, label) };
  };

  const removeLabel = (call: Call): Answer => {
    const label = repoLabel(call);
    call.repo.labels.splice(call.repo.labels.indexOf(label), 1);
    for (const row of call.repo.issues) row.labels = row.labels.filter((name) => name !== label.name);
    return { status: 204 };
  };

  // Sub-issues and dependencies: by id, not by number.

  const other = (id: unknown): IssueRow => issueById(cloud, Number(id))?.row ?? lost();

  const related = (of: (cloud: CodehostCloud, row: IssueRow) => PlacedIssue[]) => (call: Call) =>
    numberedPage(call.url, of(cloud, rowOf(call)), view);

  const nest = (call: Call): Answer => {
    const child = other(call.body['sub_issue_id']);
    if (child.parentId !== null && call.body['replace_parent'] !== true)
      throw invalid('Sub issue may only have one parent', 'Issue');
    void issues.nest(child, rowOf(call), true, call.login);
    return ok(call, 201);
  };

  const unnest = (call: Call): Answer => {
    void issues.nest(other(call.body['sub_issue_id']), rowOf(call), false, call.login);
    return ok(call);
  };

  const parent = (call: Call): Answer => {
    const found = issueById(cloud, rowOf(call).parentId);
    return { status: 200, body: view(found ?? lost()) };
  };

  const depend = (call: Call, id: unknown, isAdded: boolean): Answer => {
    void issues.depend(rowOf(call), other(id), isAdded, call.login);
    return ok(call, isAdded ? 201 : 200);
  };

  // Who may do what: a person who is not named only reads.

  const permission = ({ repo, parts }: Call): Answer => {
    const login = parts[0] ?? '';
    const { permission: role = 'read' } = repo.people.get(login.toLowerCase()) ?? {};
    const known = { maintain: 'write', triage: 'read' }[role] ?? role;
    return { status: 200, body: { permission: known, role_name: role, user: accountView(login) } };
  };

  const route = (method: string, path: RegExp, answer: Route['answer']): Route => ({
    method,
    path,
    needs: 'read',
    answer,
  });
  return [
    route('POST', /^issues$/, create),
    route('GET', /^issues$/, list),
    route('GET', /^issues\/(\d+)$/, one),
    route('PATCH', /^issues\/(\d+)$/, (call) => change(call)),
    route('GET', /^issues\/(\d+)\/comments$/, comments),
    route('POST', /^issues\/(\d+)\/comments$/, comment),
    route('GET', /^issues\/(\d+)\/events$/, events),
    route('GET', /^issues\/(\d+)\/labels$/, labelsOf),
    route('POST', /^issues\/(\d+)\/labels$/, (call) =>
      setLabels(call, [...rowOf(call).labels, ...(namesIn(call.body['labels']) ?? [])]),
    ),
    route('PUT', /^issues\/(\d+)\/labels$/, (call) => setLabels(call, namesIn(call.body['labels']) ?? [])),
    route('DELETE', /^issues\/(\d+)\/labels\/([^/]+)$/, unlabel),
    route('POST', /^issues\/(\d+)\/assignees$/, (call) => assignees(call, true)),
    route('DELETE', /^issues\/(\d+)\/assignees$/, (call) => assignees(call, false)),
    route('GET', /^issues\/(\d+)\/sub_issues$/, related(subIssuesOf)),
    route('POST', /^issues\/(\d+)\/sub_issues$/, nest),
    route('DELETE', /^issues\/(\d+)\/sub_issue$/, unnest),
    route('GET', /^issues\/(\d+)\/parent$/, parent),
    route('GET', /^issues\/(\d+)\/dependencies\/blocked_by$/, related(blockersOf)),
    route('GET', /^issues\/(\d+)\/dependencies\/blocking$/, related(blockedByIt)),
    route('POST', /^issues\/(\d+)\/dependencies\/blocked_by$/, (call) =>
      depend(call, call.body['issue_id'], true),
    ),
    route('DELETE', /^issues\/(\d+)\/dependencies\/blocked_by\/(\d+)$/, (call) =>
      depend(call, call.parts[1], false),
    ),
    route('GET', /^labels$/, ({ repo, url }) =>
      numberedPage(url, repo.labels, (row) => labelView(repo, row)),
    ),
    route('POST', /^labels$/, addLabel),
    route('GET', /^labels\/([^/]+)$/, (call) => ({
      status: 200,
      body: labelView(call.repo, repoLabel(call)),
    })),
    route('DELETE', /^labels\/([^/]+)$/, removeLabel),
    route('GET', /^collaborators\/([^/]+)\/permission$/, permission),
  ];
}

function isIssue(row: IssueRow | PullRequestRow): row is IssueRow {
  return 'events' in row;
}

function lost(): never {
  throw notFound();
}

export function missing(field: string): Refusal {
  return new Refusal(422, 'Validation Failed', {
    errors: [{ resource: 'Issue', field, code: 'missing_field' }],
  });
}

/** Names, or objects with a name. */
function namesIn(given: unknown): string[] | undefined {
  if (!Array.isArray(given)) return undefined;
  return given.map((one: unknown) =>
    typeof one === 'object' && one !== null && 'name' in one ? String(one.name) : String(one),
  );
}

const reasons = ['completed', 'not_planned', 'duplicate', 'reopened'] as const;

function changeIn(body: Call['body']): IssueChange {
  const { title, body: text, state, state_reason } = body;
  const [labels, assignees] = [namesIn(body['labels']), namesIn(body['assignees'])];
  if (text !== undefined && text !== null && typeof text !== 'string') throw missing('body');
  if (state !== undefined && state !== 'open' && state !== 'closed') throw unknown('state');
  const stateReason = reasons.find((reason) => reason === state_reason);
  if (stateReason === undefined && state_reason !== undefined && state_reason !== null)
    throw unknown('state_reason');
  return {
    ...(typeof title === 'string' && { title }),
    ...(text !== undefined && { body: text }),
    ...(state !== undefined && { state }),
    ...(stateReason !== undefined && { stateReason }),
    ...(labels && { labels }),
    ...(assignees && { assignees }),
  };
}

function unknown(field: string): Refusal {
  return new Refusal(422, 'Validation Failed', { errors: [{ resource: 'Issue', field, code: 'invalid' }] });
}
