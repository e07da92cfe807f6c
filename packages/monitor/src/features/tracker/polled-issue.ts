// What a poll of the tracker finds that no delivery has reported: the current issue, compared with the newest line
// about it. The delivery id is made from the issue and its time, so polling again adds nothing.

import { knownDetail } from '@svc/contract/payload-fields';
import type { EventDraft, EventLine } from '../../kernel/log/event-line.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import type { Topic } from '../../kernel/log/topics.ts';
import { detailOf } from '../topics.ts';
import type { TrackerIssue } from './api-answer.ts';
import { issueActions, type TicketDetail, type TicketState, type TrackerPerson } from './topics.ts';

/** An issue as a poll finds it: not every tracker has every field, and what is absent is not known. */
export type PolledIssue = Pick<
  TrackerIssue,
  'id' | 'identifier' | 'title' | 'url' | 'createdAt' | 'updatedAt'
> & {
  state?: TicketState | undefined;
  /** No delivery has its state, so a line without one is not up to date. */
  onlyPolled?: boolean;
  author?: TrackerPerson;
} & Partial<Omit<TrackerIssue, 'id' | 'identifier' | 'title' | 'url' | 'createdAt' | 'updatedAt' | 'state'>>;

/** The event that brings the log up to date, or undefined if it is. */
export function pollDifference(
  issue: PolledIssue,
  newest: Pick<EventLine, 'event' | 'detail'> | undefined,
  since: string,
): EventDraft | undefined {
  const detail = detailFrom(issue);
  const known = newest && knownOf(newest);
  const changed = known === undefined ? [] : changesBetween(known, detail, issue.onlyPolled === true);
  const topic = topicOf(issue, newest, changed, since);
  if (topic === undefined) return undefined;
  return {
    event: `tracker.issue.${topic}`,
    source: 'tracker.poll',
    via: 'poll',
    deliveryId: `poll:${issue.identifier}:${issue.updatedAt}`,
    occurredAt: issue.updatedAt,
    scope: { ticket: issue.identifier },
    detail: knownDetail({ ...detail, ...(changed.length > 0 && { changed }) }),
  };
}

type Known = Pick<TicketDetail, 'title' | 'state' | 'priority' | 'assignee' | 'labels'>;
const issueTopics = topicsIn('tracker.issue', issueActions);
/** The topics that polling can find. All others come only with deliveries. */
export const polledTrackerTopics: ReadonlySet<Topic> = new Set(issueTopics);

type IssueAction = (typeof issueActions)[number];
type Field = 'stateId' | 'priority' | 'assigneeId' | 'title' | 'labelIds';

function topicOf(
  issue: PolledIssue,
  newest: Pick<EventLine, 'event'> | undefined,
  changed: readonly Field[],
  since: string,
): IssueAction | undefined {
  const removed = issue.trashed === true;
  if (newest?.event === 'tracker.issue.removed') return removed ? undefined : 'updated';
  if (removed) return 'removed';
  if (newest === undefined) return issue.createdAt >= since ? 'created' : 'updated';
  if (changed.includes('stateId')) return 'state_changed';
  if (changed.includes('priority')) return 'priority_changed';
  if (changed.includes('assigneeId')) return 'assignee_changed';
  return changed.length > 0 ? 'updated' : undefined;
}

/** A line from an older version, or a cut one, may have fewer fields: a missing field counts as unchanged. */
function knownOf(newest: Pick<EventLine, 'event' | 'detail'>): Known {
  return detailOf(newest, issueTopics) ?? {};
}

function changesBetween(known: Known, now: TicketDetail, onlyPolled: boolean): Field[] {
  const changed: Field[] = [];
  const [before, after] = [known.state?.id, now.state?.id];
  const isComparable = before !== undefined || onlyPolled;
  if (isComparable && after !== undefined && before !== after) changed.push('stateId');
  if (known.priority !== undefined && now.priority !== undefined && known.priority !== now.priority)
    changed.push('priority');
  if (known.assignee !== undefined && (known.assignee?.id ?? null) !== (now.assignee?.id ?? null)) {
    changed.push('assigneeId');
  }
  if (known.title !== undefined && known.title !== now.title) changed.push('title');
  if (known.labels !== undefined && !sameNames(known.labels, now.labels)) changed.push('labelIds');
  return changed;
}

function sameNames(known: readonly string[], now: readonly string[] = []): boolean {
  return known.toSorted().join('\n') === now.toSorted().join('\n');
}

function detailFrom(issue: PolledIssue): TicketDetail {
  return {
    id: issue.id,
    url: issue.url,
    title: issue.title,
    state: issue.state,
    priority: issue.priority,
    priorityLabel: issue.priorityLabel,
    assignee: issue.assignee,
    team: issue.team?.key,
    teamId: issue.team?.id,
    labels: issue.labels?.nodes.map(({ name }) => name),
    author: issue.author,
    project: issue.project?.name,
    cycle: issue.cycle?.number,
    parentId: issue.parent?.id,
    estimate: issue.estimate ?? undefined,
    dueDate: issue.dueDate ?? undefined,
  };
}
