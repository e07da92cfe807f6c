// What the fake tracker keeps: plain rows, as a person would describe them. Times are ISO 8601.

type Row = { id: string; createdAt: string; updatedAt: string; archivedAt: string | null };

export type TeamRow = Row & { key: string; name: string };
export type StateRow = Row & { teamId: string; name: string; type: string; position: number };
export type LabelRow = Row & { name: string; teamId: string | null; isGroup: boolean };
export type UserRow = { id: string; name: string; email: string; admin: boolean };

export type IssueRow = Row & {
  teamId: string;
  number: number;
  title: string;
  description: string | null;
  stateId: string;
  priority: number;
  assigneeId: string | null;
  labelIds: string[];
  parentId: string | null;
  estimate: number | null;
  dueDate: string | null;
  cycle: { id: string; number: number } | null;
  project: { id: string; name: string } | null;
  trashed: boolean | null;
};

/** `issueId` blocks, duplicates or is related to `relatedIssueId`. */
export type RelationRow = Row & { type: string; issueId: string; relatedIssueId: string };

export type WebhookRow = Row & {
  url: string;
  enabled: boolean;
  label: string | null;
  resourceTypes: string[];
  teamId: string | null;
  allPublicTeams: boolean;
  /** Signs deliveries. The tracker tells it once, when the webhook is created. */
  secret: string;
  creatorId: string;
};

export type Tables = {
  teams: TeamRow[];
  states: StateRow[];
  labels: LabelRow[];
  users: UserRow[];
  issues: IssueRow[];
  relations: RelationRow[];
  webhooks: WebhookRow[];
};
