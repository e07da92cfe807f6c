// The part of Linear's API that we use. Every function makes one request per page and repeats none; a failure is a
// TrackerError, whose `problem` has the kind and how long to wait.
//
//   const tracker = createLinearClient({ token, apiUrl, fetch, clock });
//   const team = await tracker.teamStates('ABC');
import type { WallClock } from '@svc/lib/clock';
import { systemErrorCode } from '@svc/lib/errors';
import { causeOf, readAnswer } from '@svc/lib/fetch';
import {
  type FiledIssue,
  readTrackerAnswer,
  readTrackerQuota,
  type TrackerAnswer,
  type TrackerComment,
  type TrackerLabel,
  type TrackerProblem,
  type TrackerQuota,
  type TrackerRelation,
  type TrackerTeam,
  type TrackerWebhook,
  trackerShapes,
} from '../../api-answer.ts';
import { trackerDocuments } from '../../linear/documents.ts';
import type { TicketComment } from '../../ticket-text.ts';
import { type Tracker, TrackerError } from '../tracker.ts';

// All pages of a list. Pages that form a loop, or never end, are an error.

const MOST_PAGES = 200;

type Page<Node> = { nodes: Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

async function allPages<Node>(ask: (after: string | null) => Promise<Page<Node>>): Promise<Node[]> {
  const nodes: Node[] = [];
  const seen = new Set<string | null>([null]);
  for (let after: string | null = null; seen.size <= MOST_PAGES; ) {
    const page = await ask(after);
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return nodes;
    after = page.pageInfo.endCursor;
    if (seen.has(after)) throw endless('its pages form a loop');
    seen.add(after);
  }
  throw endless(`a list has more than ${MOST_PAGES} pages`);
}

function endless(message: string): TrackerError {
  return new TrackerError({ kind: 'malformed', message });
}

// One GraphQL request to the tracker over fetch: bounded in time and size, never repeated, and without the token in any
// error or result.

type RequestOptions = {
  token: string;
  apiUrl: string;
  fetch: typeof fetch;
  clock: WallClock;
  /** For the whole exchange, including the body. */
  timeoutMs: number;
  maxBytes: number;
  /** Aborted when no answer is needed any more. */
  signal?: AbortSignal | undefined;
};

type Requester = {
  send: (query: string, variables: Record<string, unknown>) => Promise<TrackerAnswer>;
  /** From the newest answer; undefined before the first. */
  quota: () => TrackerQuota | undefined;
  /** Requests made so far, whatever their result. */
  calls: () => number;
};

function createRequester(options: RequestOptions): Requester {
  const { token, apiUrl, clock, timeoutMs, maxBytes, signal } = options;
  let quota: TrackerQuota | undefined;
  let calls = 0;

  const exchange = async (body: string): Promise<TrackerAnswer> => {
    const response = await options.fetch(apiUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: authorizationFor(token) },
      body,
      // The token must not be sent to another address.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    const header = (name: string) => response.headers.get(name);
    quota = readTrackerQuota(header) ?? quota;
    const bytes = await readAnswer(response, maxBytes);
    if (bytes === undefined)
      return failed({ kind: 'malformed', message: `its answer has more than ${maxBytes} bytes` });
    return readTrackerAnswer({
      status: response.status,
      header,
      body: bytes.toString('utf8'),
      receivedAt: clock.now(),
    });
  };

  return {
    quota: () => quota,
    calls: () => calls,
    async send(query, variables) {
      // It is not valid in a header, and the error would quote it.
      if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)?$/.test(token))
        return failed({ kind: 'unauthorised', message: 'the token contains invalid characters' });
      calls += 1;
      try {
        const answer = await exchange(JSON.stringify({ query, variables }));
        return answer.ok ? answer : failed(withoutToken(answer.problem, token));
      } catch (error) {
        return failed({ kind: 'unavailable', message: reasonOf(error, timeoutMs) });
      }
    },
  };
}

/** A personal key is sent as it is; an OAuth token, known by its prefix, after `Bearer`. */
function authorizationFor(token: string): string {
  return token.startsWith('lin_oauth_') ? `Bearer ${token}` : token;
}

function withoutToken(problem: TrackerProblem, token: string): TrackerProblem {
  return { ...problem, message: problem.message.replaceAll(token, '[token]') };
}

function failed(problem: TrackerProblem): TrackerAnswer {
  return { ok: false, problem };
}

/** Why there was no answer: the system's error code if there is one, never the request itself. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no connection';
  if (error.name === 'AbortError') return 'interrupted';
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  const code = systemErrorCode(causeOf(error));
  return `no connection, or it was lost${code === undefined ? '' : ` (${code})`}`;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 8 * 1024 * 1024;
const ISSUES_PER_PAGE = 50;
/** The tracker refuses queries whose nested pages multiply to too much. */
const RELATIONS_PER_PAGE = 25;
const MOST_RELATIONS_PER_PAGE = 250;
/** For one ticket; older ones are not read. */
const MOST_COMMENTS = 200;
const COMMENTS_PER_PAGE = 100;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export type LinearClientOptions = {
  token: string;
  apiUrl: string;
  fetch: typeof fetch;
  clock: WallClock;
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

type NewIssue = {
  /**
   * A UUID that we choose: the tracker creates no second issue with the same id, so a repeated request creates it
   * once.
   */
  id: string;
  teamId: string;
  title: string;
  description: string;
  labelIds: readonly string[];
  priority?: number;
};

export type LinearClient = Omit<Tracker, 'filing'> & {
  listWebhooks: () => Promise<TrackerWebhook[]>;
  /** The secret that the tracker signs with; it is returned only here. */
  createWebhook: (webhook: NewWebhook) => Promise<TrackerWebhook & { secret: string | null }>;
  /** False if the webhook no longer existed. */
  deleteWebhook: (id: string) => Promise<boolean>;
  /** The labels of that name, ignoring case: of every team and of the workspace. */
  labelsNamed: (name: string) => Promise<TrackerLabel[]>;
  createLabel: (label: { name: string; teamId: string }) => Promise<TrackerLabel>;
  createIssue: (issue: NewIssue) => Promise<FiledIssue>;
  /** An issue of the team whose text contains this, including archived ones. */
  issueWithText: (teamId: string, text: string) => Promise<FiledIssue | undefined>;
};

export function createLinearClient({
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_BYTES,
  ...options
}: LinearClientOptions): LinearClient {
  const requester = createRequester({ ...options, timeoutMs, maxBytes });

  const ask = async <Name extends keyof typeof trackerShapes>(
    name: Name,
    variables: Record<string, unknown>,
  ): Promise<ReturnType<(typeof trackerShapes)[Name]['parse']>> => {
    const answer = await requester.send(trackerDocuments[name], variables);
    if (!answer.ok) throw new TrackerError(answer.problem);
    const read = trackerShapes[name].safeParse(answer.data);
    if (read.success) return read.data as ReturnType<(typeof trackerShapes)[Name]['parse']>;
    const [issue] = read.error.issues;
    const field = [name, ...(issue?.path ?? [])].join('.');
    throw new TrackerError({ kind: 'malformed', message: `${field}: ${issue?.message ?? 'wrong shape'}` });
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
      return (await ifThere(() => ask('DeleteWebhook', { id }))) !== undefined;
    },
    async issuesUpdatedSince(teamId, since) {
      const found = await allPages(
        async (after) =>
          (await ask('IssuesUpdatedSince', { teamId, since, first: ISSUES_PER_PAGE, after })).issues,
      );
      // The tracker lists the newest first, and an issue that changes meanwhile may appear twice.
      const newest = new Map(found.toReversed().map((issue) => [issue.id, issue]));
      const issues = [...newest.values()].toSorted((one, other) =>
        one.updatedAt < other.updatedAt ? -1 : 1,
      );
      return { issues, cursor: issues.at(-1)?.updatedAt ?? since };
    },
    issueState: (issue) => ifThere(async () => (await ask('IssueState', { id: issue })).issue),
    issueText: (name) =>
      ifThere(async () => {
        const found = await ask('IssueText', { id: name, comments: COMMENTS_PER_PAGE });
        const { issue, viewer } = found;
        const comments = [...issue.comments.nodes];
        let { hasNextPage, endCursor: after } = issue.comments.pageInfo;
        while (hasNextPage && comments.length < MOST_COMMENTS) {
          const page = { id: name, comments: COMMENTS_PER_PAGE, after };
          const { nodes, pageInfo } = (await ask('IssueText', page)).issue.comments;
          comments.push(...nodes);
          ({ hasNextPage, endCursor: after } = pageInfo);
          if (nodes.length === 0) break;
        }
        const parent = issue.parent && {
          title: `Parent: ${issue.parent.identifier} ${issue.parent.title}`,
          url: issue.parent.url,
        };
        return {
          title: issue.title,
          url: issue.url,
          state: issue.state.name,
          author: issue.creator?.name ?? null,
          body: issue.description,
          labels: issue.labels.nodes.map((label) => label.name),
          links: [...(parent ? [parent] : []), ...issue.attachments.nodes],
          // The tracker lists the newest first.
          comments: comments.map((comment) => commentFrom(comment, viewer.id)).toReversed(),
          commentCount: hasNextPage ? null : comments.length,
        };
      }),
    async issueBlockers(team, numbers) {
      const found: { identifier: string; relations: TrackerRelation[] }[] = [];
      for (let from = 0; from < numbers.length; from += ISSUES_PER_PAGE) {
        const some = numbers.slice(from, from + ISSUES_PER_PAGE);
        const page = { team, numbers: some, first: ISSUES_PER_PAGE, relations: RELATIONS_PER_PAGE };
        const issues = await allPages(
          async (after) => (await ask('IssueBlockers', { ...page, after })).issues,
        );
        for (const { identifier, number, inverseRelations } of issues) {
          const more = { team, numbers: [number], first: 1, relations: MOST_RELATIONS_PER_PAGE };
          const relations = !inverseRelations.pageInfo.hasNextPage
            ? inverseRelations.nodes
            : await allPages(async (relationsAfter) => {
                const { issues: one } = await ask('IssueBlockers', { ...more, relationsAfter });
                return one.nodes[0]?.inverseRelations ?? noPage;
              });
          found.push({ identifier, relations });
        }
      }
      return found;
    },
    async setIssueState(issue, stateId) {
      return (await ask('SetIssueState', { id: issue, stateId })).issueUpdate.issue?.state.name;
    },
    labelsNamed: (name) => allPages(async (after) => (await ask('LabelsNamed', { name, after })).issueLabels),
    createLabel: async ({ name, teamId }) =>
      (await ask('CreateLabel', { name, teamId })).issueLabelCreate.issueLabel,
    createIssue: async (input) => (await ask('CreateIssue', { input })).issueCreate.issue,
    issueWithText: async (teamId, text) => (await ask('IssuesWithText', { teamId, text })).issues.nodes[0],
  };
}

function commentFrom({ id, body, createdAt, user, botActor }: TrackerComment, self: string): TicketComment {
  const author = user?.name ?? botActor?.name ?? null;
  return {
    id,
    author,
    by: user === null ? 'app' : user.id === self ? 'self' : 'person',
    at: createdAt,
    text: body,
  };
}

async function ifThere<T>(asked: () => Promise<T>): Promise<T | undefined> {
  try {
    return await asked();
  } catch (error) {
    if (error instanceof TrackerError && error.problem.kind === 'not-found') return undefined;
    throw error;
  }
}

const noPage = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
