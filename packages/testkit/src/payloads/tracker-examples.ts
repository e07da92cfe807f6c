// Payloads of the issue tracker, written by us from the vendor's published webhook schema: one for every row of the
// spec's table, and some beyond it. About the same work as the code host's: ticket ENG-42.
import type { Example, JsonObject } from './examples.ts';

const organizationId = '0f000000-0000-4000-8000-000000000001';
const webhookId = '0f000000-0000-4000-8000-000000000002';
const time = '2026-01-02T03:00:00.000Z';
const sentAt = Date.parse(time) + 250;
const ticketUrl = 'https://tracker.example.test/acme/issue/ENG-42/add-the-login-form';

const kim = {
  id: 'user-kim',
  name: 'Kim',
  email: 'kim@example.test',
  url: 'https://tracker.example.test/acme/profiles/kim',
};
const team = { id: 'team-eng', key: 'ENG', name: 'Engineering' };
const inProgress = { id: 'state-in-progress', name: 'In Progress', type: 'started', color: '#f2c94c' };
const issue = {
  id: 'issue-42',
  identifier: 'ENG-42',
  number: 42,
  title: 'Add the login form',
  description: 'A form with two fields.',
  priority: 2,
  priorityLabel: 'High',
  state: inProgress,
  stateId: inProgress.id,
  assignee: kim,
  assigneeId: kim.id,
  team,
  teamId: team.id,
  labels: [{ id: 'label-bug', name: 'bug', color: '#eb5757' }],
  labelIds: ['label-bug'],
  subscriberIds: [kim.id],
  previousIdentifiers: [],
  sortOrder: 1.5,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: time,
  url: ticketUrl,
};
const issueChild = {
  id: issue.id,
  identifier: issue.identifier,
  title: issue.title,
  team,
  teamId: team.id,
  url: ticketUrl,
};
const comment = {
  id: 'comment-1',
  body: 'Looks good.',
  issueId: issue.id,
  issue: issueChild,
  userId: kim.id,
  user: kim,
};
const cycle = {
  id: 'cycle-7',
  number: 7,
  name: 'Seven',
  startsAt: '2026-01-05T00:00:00.000Z',
  endsAt: '2026-01-19T00:00:00.000Z',
  teamId: team.id,
};
const reaction = {
  id: 'reaction-1',
  emoji: 'tada',
  commentId: comment.id,
  issue: issueChild,
  userId: kim.id,
  user: kim,
};
const label = { id: 'label-bug', name: 'bug', color: '#eb5757', isGroup: false, teamId: team.id };
const project = {
  id: 'project-1',
  name: 'Sign-in',
  status: { id: 'status-1', name: 'Planned', type: 'planned', color: '#bec2c8' },
  statusId: 'status-1',
  lead: kim,
  leadId: kim.id,
  priority: 1,
  targetDate: '2026-03-01',
  url: 'https://tracker.example.test/acme/project/sign-in',
};

const previousTime = { updatedAt: '2026-01-01T12:00:00.000Z' };

export function trackerExamples(): Example[] {
  return [
    delivered('Issue create', issue),
    delivered('Issue update, stateId changed', issue, {
      ...previousTime,
      stateId: 'state-todo',
      startedAt: null,
    }),
    delivered('Issue update, priority changed', issue, {
      ...previousTime,
      priority: 0,
      prioritySortOrder: 10,
    }),
    delivered('Issue update, assigneeId changed', issue, { ...previousTime, assigneeId: null }),
    delivered('Issue update, other fields only', issue, { ...previousTime, title: 'Login', labelIds: [] }),
    delivered('Issue remove', issue),
    ...lifecycle('Comment', comment, { ...previousTime, body: 'Looks goof.' }),
    ...lifecycle('Cycle', cycle, { ...previousTime, name: 'VII' }),
    delivered('Reaction create', reaction),
    delivered('Reaction remove', reaction),
    ...lifecycle('IssueLabel', label, { ...previousTime, color: '#000000' }),
    ...lifecycle('Project', project, { ...previousTime, targetDate: null }),
  ];
}

/** Issue updates that changed several fields at once: each must give exactly one topic. */
export function trackerExamplesOfManyChanges(): Example[] {
  return [
    delivered('Issue update, state, priority and assignee', issue, {
      assigneeId: null,
      priority: 4,
      stateId: 'state-todo',
    }),
    delivered('Issue update, priority and assignee', issue, { assigneeId: 'user-lee', priority: 4 }),
    delivered('Issue update, assignee and title', issue, { title: 'Login', assigneeId: 'user-lee' }),
  ];
}

/** What the tracker may deliver beyond the table. */
export function trackerExamplesBesideTheTable(): Example[] {
  return [
    delivered('Reaction update', reaction),
    delivered('Issue restore', issue),
    delivered('Document create', { id: 'document-1', title: 'Notes' }),
    delivered('IssueSLA set', issue),
  ];
}

function lifecycle(type: string, data: JsonObject, updatedFrom: JsonObject): Example[] {
  return [
    delivered(`${type} create`, data),
    delivered(`${type} update`, data, updatedFrom),
    delivered(`${type} remove`, data),
  ];
}

/** The name starts with type and action: `Issue update, stateId changed`. */
function delivered(name: string, data: JsonObject, updatedFrom?: JsonObject): Example {
  const [type = '', action = ''] = name.split(/[ ,]+/);
  const payload: JsonObject = {
    action,
    type,
    actor: { ...kim, type: 'user' },
    createdAt: time,
    data: structuredClone(data),
    url: data['url'] ?? ticketUrl,
    organizationId,
    webhookId,
    webhookTimestamp: sentAt,
  };
  return { name, type, payload: updatedFrom === undefined ? payload : { ...payload, updatedFrom } };
}
