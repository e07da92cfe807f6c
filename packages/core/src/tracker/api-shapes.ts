// The shape of each answer that we ask the tracker for. Only fields that our documents name are here.
import { z } from 'zod';

/** Ids and keys are printed, so that nothing else may stand in them. */
const id = z.string().regex(/^[\w-]{1,100}$/);
const key = z.string().regex(/^[\w-]{1,50}$/);

const pageOf = <Node extends z.ZodType>(node: Node) =>
  z.object({
    nodes: z.array(node),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  });

export const WorkflowState = z.object({
  id,
  name: z.string().min(1),
  type: z.string(),
  position: z.number(),
});

export const TrackerTeam = z.object({ id, key, name: z.string() });

export const TrackerWebhook = z.object({
  id,
  /** Null for webhooks of OAuth applications. */
  url: z.string().nullable(),
  enabled: z.boolean(),
  resourceTypes: z.array(z.string()),
  allPublicTeams: z.boolean(),
  team: z.object({ id }).nullable(),
});

export const TrackerIssue = z.object({
  id,
  /** `ABC-123` */
  identifier: z.string().min(1),
  title: z.string(),
  url: z.string(),
  createdAt: z.string(),
  updatedAt: z.iso.datetime({ offset: true }),
  archivedAt: z.string().nullable(),
  trashed: z.boolean().nullable(),
  priority: z.number(),
  priorityLabel: z.string(),
  estimate: z.number().nullable(),
  dueDate: z.string().nullable(),
  state: z.object({ id, name: z.string(), type: z.string() }),
  team: z.object({ id, key }),
  assignee: z.object({ id, name: z.string() }).nullable(),
  project: z.object({ name: z.string() }).nullable(),
  cycle: z.object({ number: z.number() }).nullable(),
  parent: z.object({ id }).nullable(),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
});

/** `issue` is the one that blocks, where the type is `blocks`. */
export const TrackerRelation = z.object({
  type: z.string(),
  issue: z.object({
    identifier: z.string().min(1),
    state: z.object({ name: z.string(), type: z.string() }),
  }),
});

const BlockedIssue = z.object({
  identifier: z.string().min(1),
  number: z.number(),
  inverseRelations: pageOf(TrackerRelation),
});

/** A label of the whole workspace has no team. A group holds labels and cannot stand on an issue itself. */
export const TrackerLabel = z.object({
  id,
  name: z.string(),
  isGroup: z.boolean(),
  team: z.object({ id }).nullable(),
});

/** A ticket that was filed: what a person calls it, and where it is. */
export const FiledIssue = TrackerIssue.pick({ id: true, identifier: true, url: true });

/** By the name of the document that asks. */
export const trackerShapes = {
  TeamStates: z.object({
    teams: z.object({ nodes: z.array(TrackerTeam.extend({ states: pageOf(WorkflowState) })) }),
  }),
  Teams: z.object({ teams: pageOf(TrackerTeam) }),
  Webhooks: z.object({ webhooks: pageOf(TrackerWebhook) }),
  CreateWebhook: z.object({
    webhookCreate: z.object({
      success: z.literal(true),
      webhook: TrackerWebhook.extend({ secret: z.string().nullable() }),
    }),
  }),
  DeleteWebhook: z.object({ webhookDelete: z.object({ success: z.literal(true) }) }),
  IssuesUpdatedSince: z.object({ issues: pageOf(TrackerIssue) }),
  IssueState: z.object({
    issue: TrackerIssue.pick({ id: true, identifier: true, state: true, team: true }),
  }),
  IssueBlockers: z.object({ issues: pageOf(BlockedIssue) }),
  SetIssueState: z.object({
    issueUpdate: z.object({ success: z.literal(true), issue: TrackerIssue.nullable() }),
  }),
  LabelsNamed: z.object({ issueLabels: pageOf(TrackerLabel) }),
  CreateLabel: z.object({
    issueLabelCreate: z.object({ success: z.literal(true), issueLabel: TrackerLabel }),
  }),
  CreateIssue: z.object({
    issueCreate: z.object({ success: z.literal(true), issue: FiledIssue }),
  }),
  IssuesWithText: z.object({ issues: z.object({ nodes: z.array(FiledIssue) }) }),
};

export type WorkflowState = z.infer<typeof WorkflowState>;
export type TrackerTeam = z.infer<typeof TrackerTeam>;
export type TrackerWebhook = z.infer<typeof TrackerWebhook>;
export type TrackerIssue = z.infer<typeof TrackerIssue>;
export type TrackerRelation = z.infer<typeof TrackerRelation>;
export type TrackerLabel = z.infer<typeof TrackerLabel>;
export type FiledIssue = z.infer<typeof FiledIssue>;
export type TrackerIssueState = Pick<TrackerIssue, 'id' | 'identifier' | 'state' | 'team'>;
