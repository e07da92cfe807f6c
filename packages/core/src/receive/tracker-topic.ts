// Which topic a tracker delivery has. An issue update that changed several fields has exactly one:
// state before priority before assignee before everything else.
import type { Topic } from '../log/topics.ts';
import type { Fields } from './payload-fields.ts';

const topicOf: ReadonlyMap<string, Topic> = new Map([
  ['Issue create', 'tracker.issue.created'],
  ['Issue update', 'tracker.issue.updated'],
  ['Issue remove', 'tracker.issue.removed'],
  ['Comment create', 'tracker.comment.created'],
  ['Comment update', 'tracker.comment.updated'],
  ['Comment remove', 'tracker.comment.removed'],
  ['Cycle create', 'tracker.cycle.created'],
  ['Cycle update', 'tracker.cycle.updated'],
  ['Cycle remove', 'tracker.cycle.removed'],
  ['Reaction create', 'tracker.reaction.created'],
  ['Reaction remove', 'tracker.reaction.removed'],
  ['IssueLabel create', 'tracker.issue_label.created'],
  ['IssueLabel update', 'tracker.issue_label.updated'],
  ['IssueLabel remove', 'tracker.issue_label.removed'],
  ['Project create', 'tracker.project.created'],
  ['Project update', 'tracker.project.updated'],
  ['Project remove', 'tracker.project.removed'],
]);

/** `updatedFrom` holds the previous values of the changed fields; a field counts by being there, even if null. */
export function trackerTopic(type: string, action: string, updatedFrom: Fields): Topic {
  const topic = topicOf.get(`${type} ${action}`) ?? 'tracker.other';
  if (topic !== 'tracker.issue.updated') return topic;
  if (Object.hasOwn(updatedFrom, 'stateId')) return 'tracker.issue.state_changed';
  if (Object.hasOwn(updatedFrom, 'priority')) return 'tracker.issue.priority_changed';
  if (Object.hasOwn(updatedFrom, 'assigneeId')) return 'tracker.issue.assignee_changed';
  return topic;
}
