// Deliveries of the code host about issues of a repository whose issues are tickets: the same events as those of another
// tracker. Those of every other repository stay what they are (map-codehost.ts).
import {
  asFields,
  type Fields,
  hasObject,
  integerAt,
  knownDetail,
  loginAt,
  namesAt,
  objectAt,
  textAt,
  timeAt,
} from '@svc/contract/payload-fields';
import type { EventContent } from '../../kernel/log/event-line.ts';
import { githubStateOf, isStateLabel } from './github-states.ts';
import type { TicketCommentDetail, TicketDetail, TicketState, TrackerPerson } from './topics.ts';
import { type GithubTracker, trackedRepo } from './tracker-of.ts';

/** What a hook of a repository has to report beside the ten types. `projects_v2_item` is for hooks of organizations only. */
export const issueEventTypes = ['issues', 'sub_issues', 'issue_dependencies'] as const;

export type IssueFact = { content: EventContent; ticket: string | undefined; occurredAt: string | undefined };

/** Undefined if the delivery is not about a ticket. */
export function issueFact(
  type: string,
  payload: Fields,
  tracked: readonly GithubTracker[],
): IssueFact | undefined {
  const action = textAt(payload, 'action') ?? '';
  // A status belongs to an organization: which issue it is about, the next poll finds.
  if (type === 'projects_v2_item')
    return tracked.some(({ project }) => project !== undefined) ? other(type, action, undefined) : undefined;
  const repo = trackedRepo(tracked, textAt(objectAt(payload, 'repository'), 'full_name'));
  if (repo === undefined) return undefined;
  const ticketOf = (issue: Fields): string | undefined => {
    const number = integerAt(issue, 'number');
    return number === undefined ? undefined : `${repo.teamKey.toUpperCase()}-${number}`;
  };
  const issue = objectAt(payload, 'issue');
  switch (type) {
    case 'issues':
      return {
        content: issueContent(payload, action, issue, repo),
        ticket: ticketOf(issue),
        occurredAt: timeAt(issue, 'updated_at'),
      };
    case 'issue_comment':
      return hasObject(issue, 'pull_request')
        ? undefined
        : commentFact(payload, action, issue, ticketOf(issue));
    case 'sub_issues':
      return other(type, action, ticketOf(objectAt(payload, 'parent_issue')));
    case 'issue_dependencies':
      return other(type, action, ticketOf(objectAt(payload, 'blocked_issue')));
    default:
      return undefined;
  }
}

function other(type: string, action: string, ticket: string | undefined): IssueFact {
  const detail = knownDetail({ type, action: action || undefined });
  return { content: { event: 'tracker.other', detail }, ticket, occurredAt: undefined };
}

/** One topic for each action, in this order: state, priority, assignee, everything else. */
function issueContent(payload: Fields, action: string, issue: Fields, repo: GithubTracker): EventContent {
  const label = textAt(objectAt(payload, 'label'), 'name');
  const isState = label !== undefined && repo.project === undefined && isStateLabel(repo.stateMap, label);
  const detail = (changed: string[]): TicketDetail =>
    knownDetail({
      ...ticketFields(payload, issue, repo),
      ...(changed.length > 0 && { changed }),
      ...(action === 'labeled' && label !== undefined && { labelsAdded: [label] }),
      ...(action === 'assigned' && { assigned: personAt(payload, 'assignee') }),
    });
  switch (action) {
    case 'opened':
      return { event: 'tracker.issue.created', detail: detail([]) };
    // Its issue is now one of another repository.
    case 'transferred':
    case 'deleted':
      return { event: 'tracker.issue.removed', detail: detail([]) };
    case 'closed':
    case 'reopened':
      return { event: 'tracker.issue.state_changed', detail: detail(['stateId']) };
    case 'labeled':
    case 'unlabeled':
      return isState
        ? { event: 'tracker.issue.state_changed', detail: detail(['stateId', 'labelIds']) }
        : { event: 'tracker.issue.updated', detail: detail(['labelIds']) };
    case 'assigned':
    case 'unassigned':
      return { event: 'tracker.issue.assignee_changed', detail: detail(['assigneeId']) };
    default: {
      const edited = ['title', 'body'].filter((name) => hasObject(objectAt(payload, 'changes'), name));
      return { event: 'tracker.issue.updated', detail: detail(edited) };
    }
  }
}

function ticketFields(payload: Fields, issue: Fields, repo: GithubTracker): TicketDetail {
  const labels = namesAt(issue, 'labels', 'name');
  const author = loginAt(issue, 'user');
  return {
    id: textAt(issue, 'node_id'),
    url: textAt(issue, 'html_url'),
    actorId: textAt(objectAt(payload, 'sender'), 'node_id'),
    title: textAt(issue, 'title'),
    state: stateOf(issue, labels, repo),
    assignee: issue['assignee'] === null ? null : personAt(issue, 'assignee'),
    team: repo.teamKey,
    teamId: repo.teamId,
    labels,
    author: author === undefined ? undefined : { name: author },
  };
}

function stateOf(
  issue: Fields,
  labels: readonly string[] | undefined,
  { stateMap, project }: GithubTracker,
): TicketState | undefined {
  const facts = {
    state: textAt(issue, 'state'),
    stateReason: textAt(issue, 'state_reason'),
    labels: labels ?? [],
  };
  return githubStateOf(facts, { stateMap, inProject: project !== undefined });
}

/** By login, which is the same in every API. */
function personAt(fields: Fields, name: string): TrackerPerson | undefined {
  const person = asFields(fields[name]);
  const login = textAt(person ?? {}, 'login');
  return login === undefined ? undefined : { id: login, name: login };
}

const commentTopics = new Map([
  ['created', 'tracker.comment.created'],
  ['edited', 'tracker.comment.updated'],
  ['deleted', 'tracker.comment.removed'],
] as const);

function commentFact(payload: Fields, action: string, issue: Fields, ticket: string | undefined): IssueFact {
  const event = commentTopics.get(action as 'created');
  if (event === undefined) return other('issue_comment', action, ticket);
  const comment = objectAt(payload, 'comment');
  const detail: TicketCommentDetail = knownDetail({
    id: textAt(comment, 'node_id'),
    url: textAt(comment, 'html_url'),
    actorId: textAt(objectAt(payload, 'sender'), 'node_id'),
    body: textAt(comment, 'body'),
    author: loginAt(comment, 'user'),
    issueId: textAt(issue, 'node_id'),
    issueTitle: textAt(issue, 'title'),
  });
  const occurredAt = timeAt(comment, action === 'created' ? 'created_at' : 'updated_at');
  return { content: { event, detail }, ticket, occurredAt };
}
