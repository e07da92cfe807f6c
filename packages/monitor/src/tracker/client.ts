// The tracker's API, as far as we use it. Every function makes one request per page and none twice; a
// failure is a TrackerError, whose `problem` says what kind it is and how long to wait.
//
//   const tracker = createTrackerClient({ token, apiUrl, fetch, clock });
//   const team = await tracker.teamStates('ABC');
import {
  type TrackerIssue,
  type TrackerQuota,
  type TrackerTeam,
  type TrackerWebhook,
  trackerShapes,
  type WorkflowState,
} from '@svc/core';
import { trackerDocuments } from './documents.ts';
import { allPages } from './pages.ts';
import { createTrackerRequester } from './request.ts';
import { TrackerError } from './tracker-error.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 8 * 1024 * 1024;
const ISSUES_PER_PAGE = 50;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export type TrackerClientOptions = {
  token: string;
  apiUrl: string;
  fetch: typeof fetch;
  clock: { now: () => number };
  timeoutMs?: number;
  maxBytes?: number;
  signal?: AbortSignal;
};

type NewWebhook = {
  url: string;
  teamId: string;
  resourceTypes: readonly string[];
  label: string;
  secret: string;
};

type UpdatedIssues = {
  /** Oldest update first. */
  issues: TrackerIssue[];
  /** Where the next call goes on. Issues updated in that very millisecond come again: none is missed. */
  cursor: string;
};

export type TrackerClient = {
  /** A team, by key (`ABC`) or UUID, with all its workflow states; undefined when there is no such team. */
  teamStates: (team: string) => Promise<(TrackerTeam & { states: WorkflowState[] }) | undefined>;
  listTeams: () => Promise<TrackerTeam[]>;
  listWebhooks: () => Promise<TrackerWebhook[]>;
  /** The secret is the one that the tracker signs with; it tells it here and never again. */
  createWebhook: (webhook: NewWebhook) => Promise<TrackerWebhook & { secret: string | null }>;
  /** False when there was no such webhook any more. */
  deleteWebhook: (id: string) => Promise<boolean>;
  /** All issues of a team updated since a time, archived and trashed ones too. */
  issuesUpdatedSince: (teamId: string, since: string) => Promise<UpdatedIssues>;
  /** Moves an issue, by id or by name (`ABC-1`), to a workflow state; returns it as it is then. */
  setIssueState: (issue: string, stateId: string) => Promise<TrackerIssue | undefined>;
  quota: () => TrackerQuota | undefined;
  calls: () => number;
};

export function createTrackerClient({
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_BYTES,
  ...options
}: TrackerClientOptions): TrackerClient {
  const requester = createTrackerRequester({ ...options, timeoutMs, maxBytes });

  const ask = async <Name extends keyof typeof trackerShapes>(
    name: Name,
    variables: Record<string, unknown>,
  ): Promise<ReturnType<(typeof trackerShapes)[Name]['parse']>> => {
    const answer = await requester.send(trackerDocuments[name], variables);
    if (!answer.ok) throw new TrackerError(answer.problem);
    const read = trackerShapes[name].safeParse(answer.data);
    if (read.success) return read.data as ReturnType<(typeof trackerShapes)[Name]['parse']>;
    const [issue] = read.error.issues;
    const place = [name, ...(issue?.path ?? [])].join('.');
    throw new TrackerError({ kind: 'malformed', message: `${place}: ${issue?.message ?? 'wrong shape'}` });
  };

  return {
    quota: requester.quota,
    calls: requester.calls,
    async teamStates(team) {
      const filter = { [UUID.test(team) ? 'id' : 'key']: { eq: team } };
      let found: TrackerTeam | undefined;
      const states = await allPages(async (after) => {
        const { teams } = await ask('TeamStates', { filter, after });
        found = teams.nodes[0];
        return teams.nodes[0]?.states ?? noPage;
      });
      return found && { id: found.id, key: found.key, name: found.name, states };
    },
    listTeams: () => allPages(async (after) => (await ask('Teams', { after })).teams),
    listWebhooks: () => allPages(async (after) => (await ask('Webhooks', { after })).webhooks),
    async createWebhook(webhook) {
      return (await ask('CreateWebhook', { input: { ...webhook, enabled: true } })).webhookCreate.webhook;
    },
    async deleteWebhook(id) {
      try {
        await ask('DeleteWebhook', { id });
        return true;
      } catch (error) {
        if (error instanceof TrackerError && error.problem.kind === 'not-found') return false;
        throw error;
      }
    },
    async issuesUpdatedSince(teamId, since) {
      const found = await allPages(
        async (after) =>
          (await ask('IssuesUpdatedSince', { teamId, since, first: ISSUES_PER_PAGE, after })).issues,
      );
      // The tracker lists the newest first, and an issue that changes meanwhile may come twice.
      const newest = new Map(found.toReversed().map((issue) => [issue.id, issue]));
      const issues = [...newest.values()].toSorted((one, other) =>
        one.updatedAt < other.updatedAt ? -1 : 1,
      );
      return { issues, cursor: issues.at(-1)?.updatedAt ?? since };
    },
    async setIssueState(issue, stateId) {
      return (await ask('SetIssueState', { id: issue, stateId })).issueUpdate.issue ?? undefined;
    },
  };
}

const noPage = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
