// The detail of issue-tracker events: the topics of its entities and the fields kept from each.
// All fields are optional: a missing field in a payload must never lose the event.
import { z } from 'zod';
import { Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { TicketDigest } from '../workers/ticket-digest.ts';
import { ticketParts } from './ticket-change.ts';

const amount = z.number().optional();

/** One previous value of a changed field: plain values and lists of ids, never whole objects. */
export const PreviousValue = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]);

const TrackerDetail = Detail.extend({
  id: text,
  url: text,
  actorId: text.describe("the actor's id in the tracker, because names are not unique"),
  webhookTimestamp: amount.describe('when the tracker sent it, milliseconds since 1970'),
  changed: z.array(z.string()).optional().describe('the fields that an update changed'),
  previous: z.record(z.string(), PreviousValue).optional().describe('their values before the update'),
});

export const TicketState = z.object({ id: text, name: text, type: text });
export const TrackerPerson = z.object({ id: text, name: text });

export const TicketDetail = TrackerDetail.extend({
  title: text,
  state: TicketState.optional(),
  priority: amount.describe('0 none, 1 urgent, 2 high, 3 medium, 4 low'),
  priorityLabel: text,
  assignee: TrackerPerson.nullable().optional().describe('null when the ticket is unassigned'),
  team: text.describe('team key'),
  teamId: text,
  labels: z.array(z.string()).optional(),
  author: TrackerPerson.optional().describe('who wrote the ticket'),
  labelsAdded: z.array(z.string()).optional().describe('the labels that this change set'),
  assigned: TrackerPerson.optional().describe('whom this change assigned'),
  project: text,
  cycle: amount,
  parentId: text,
  estimate: amount,
  dueDate: text,
});

export const TicketCommentDetail = TrackerDetail.extend({
  body: text,
  author: text,
  issueId: text,
  issueTitle: text,
  parentId: text,
});

export const ReactionDetail = TrackerDetail.extend({
  emoji: text,
  author: text,
  issueId: text,
  commentId: text,
});

export const CycleDetail = TrackerDetail.extend({
  name: text,
  number: amount,
  startsAt: text,
  endsAt: text,
  completedAt: text,
  teamId: text,
});

export const TicketLabelDetail = TrackerDetail.extend({
  name: text,
  color: text,
  teamId: text,
  parentId: text,
});

export const ProjectDetail = TrackerDetail.extend({
  name: text,
  state: TicketState.optional(),
  lead: TrackerPerson.optional(),
  priority: amount,
  startDate: text,
  targetDate: text,
});

/** An accepted delivery outside the known types and actions: kept, but not interpreted. */
const TrackerOtherDetail = TrackerDetail.extend({ type: text, action: text });

export const issueActions = [
  'created',
  'state_changed',
  'priority_changed',
  'assignee_changed',
  'updated',
  'removed',
] as const;
const lifecycle = ['created', 'updated', 'removed'] as const;

/** What its agent has of the text of its ticket: in the first prompt of a session, or from a message. */
const TicketGivenDetail = Detail.extend({ digest: TicketDigest });

const TicketChangedDetail = TicketGivenDetail.extend({
  changed: z.array(z.enum(ticketParts)).describe('what is new since its agent was given it'),
  message: z.string().describe('the message to the agent; text of others is between fences'),
});

const TicketPhaseDetail = Detail.extend({ from: text, to: z.string(), skill: text });

const TicketMoveDetail = Detail.extend({ from: text, to: z.string(), stateId: text, phase: text });

/** A label or an assignment in the tracker asked for a run; `line` is that event. */
const TicketDispatchDetail = Detail.extend({
  because: z.string().describe('the label or the assignment'),
  by: text.describe('who set it'),
  line: z.int().positive(),
});

const TicketDispatchedDetail = TicketDispatchDetail.extend({ run: z.string() });

const TicketRefusedDetail = TicketDispatchDetail.extend({
  reason: z.string(),
  remedy: text,
  invited: z.boolean().describe('an allowed person asked for it; others share one attention item'),
});

export const trackerTopics = {
  ...topicFamily('tracker.issue', issueActions, TicketDetail),
  ...topicFamily('tracker.comment', lifecycle, TicketCommentDetail),
  ...topicFamily('tracker.cycle', lifecycle, CycleDetail),
  ...topicFamily('tracker.reaction', ['created', 'removed'], ReactionDetail),
  ...topicFamily('tracker.issue_label', lifecycle, TicketLabelDetail),
  ...topicFamily('tracker.project', lifecycle, ProjectDetail),
  ...topicFamily('tracker', ['other'], TrackerOtherDetail),
  ...topicFamily('orchestrator.ticket', ['given'], TicketGivenDetail),
  ...topicFamily('orchestrator.ticket', ['changed'], TicketChangedDetail),
  ...topicFamily('workflow.ticket', ['phase_changed'], TicketPhaseDetail),
  ...topicFamily('workflow.ticket', ['state_moved'], TicketMoveDetail),
  ...topicFamily('workflow.ticket', ['dispatched'], TicketDispatchedDetail),
  ...topicFamily('workflow.ticket', ['dispatch_refused'], TicketRefusedDetail),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof trackerTopics> {}
}

export type PreviousValue = z.infer<typeof PreviousValue>;
export type TrackerDetail = z.infer<typeof TrackerDetail>;
export type TicketState = z.infer<typeof TicketState>;
export type TrackerPerson = z.infer<typeof TrackerPerson>;
export type TicketDetail = z.infer<typeof TicketDetail>;
export type TicketCommentDetail = z.infer<typeof TicketCommentDetail>;
export type ReactionDetail = z.infer<typeof ReactionDetail>;
export type CycleDetail = z.infer<typeof CycleDetail>;
export type TicketLabelDetail = z.infer<typeof TicketLabelDetail>;
export type ProjectDetail = z.infer<typeof ProjectDetail>;
type TrackerOtherDetail = z.infer<typeof TrackerOtherDetail>;
