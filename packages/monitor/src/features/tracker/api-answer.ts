// Reads an answer of the tracker's API: the data, or the problem. The API reports problems in three places (status,
// GraphQL errors, headers), and a gateway in front of it in yet another way; here they become one list of kinds that a
// caller can act on.
import { parsedJson } from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import { z } from 'zod';

export type TrackerProblem =
  /** The token is wrong, expired or revoked. */
  | { kind: 'unauthorised'; message: string }
  /** The token is valid, but its owner may not do this. */
  | { kind: 'forbidden'; message: string }
  /** The quota is used up; asking earlier only makes it worse. */
  | { kind: 'rate-limited'; message: string; retryAfterMs: number }
  /** No answer, or a server error. It is not known whether the operation was performed. */
  | { kind: 'unavailable'; message: string }
  | { kind: 'not-found'; message: string }
  /** The API rejected the operation for another reason, in `message`. */
  | { kind: 'graphql'; message: string; code: string | undefined }
  /** An answer that does not match the API's documentation. It is not known whether the operation was performed. */
  | { kind: 'malformed'; message: string };

export type TrackerAnswer = { ok: true; data: unknown } | { ok: false; problem: TrackerProblem };

export type TrackerResponse = {
  status: number;
  header: (name: string) => string | null;
  body: string;
  /** When it arrived, in milliseconds since 1970. */
  receivedAt: number;
};

const ASSUMED_PAUSE_MS = 60_000;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;
const LONGEST_MESSAGE = 300;

const ApiError = z.object({
  message: z.string().catch(''),
  extensions: z
    .object({
      code: z.string().optional().catch(undefined),
      type: z.string().optional().catch(undefined),
      userPresentableMessage: z.string().optional().catch(undefined),
    })
    .catch({}),
});
type ApiError = z.infer<typeof ApiError>;

const Body = z.object({
  data: z.unknown().optional(),
  errors: z.array(ApiError).optional().catch(undefined),
});

export function readTrackerAnswer(response: TrackerResponse): TrackerAnswer {
  const body = Body.safeParse(parsedJson(response.body));
  const data = body.success ? body.data.data : undefined;
  const errors = (body.success && body.data.errors) || [];
  const problem =
    refusalIn(response, errors, holdsAnything(data)) ?? flawIn(response.status, body.success, data);
  return problem ? { ok: false, problem } : { ok: true, data };
}

/** The problem that the API reports by its errors or its status. */
function refusalIn(
  response: TrackerResponse,
  errors: readonly ApiError[],
  hasData: boolean,
): TrackerProblem | undefined {
  const { status } = response;
  const [error] = errors;
  const is = (code: string, type: string) =>
    errors.some(({ extensions }) => extensions.code === code || extensions.type === type);
  const message = error ? messageOf(error) : `it answered HTTP ${status}`;
  if (status === 429 || is('RATELIMITED', 'ratelimited'))
    return { kind: 'rate-limited', message, retryAfterMs: pauseOf(response) };
  if (status === 401 || is('AUTHENTICATION_ERROR', 'authentication error'))
    return { kind: 'unauthorised', message };
  if (status >= 500 || is('INTERNAL_SERVER_ERROR', 'internal error')) return { kind: 'unavailable', message };
  if (error && hasData) return { kind: 'malformed', message: `its answer is incomplete: ${message}` };
  if (status === 403 || is('FORBIDDEN', 'forbidden')) return { kind: 'forbidden', message };
  if (error && isNotFound(error)) return { kind: 'not-found', message };
  return error && { kind: 'graphql', message, code: error.extensions.code };
}

/** The problem with an answer that reports no error. */
function flawIn(status: number, isJson: boolean, data: unknown): TrackerProblem | undefined {
  const message = `it answered HTTP ${status}`;
  // A web server that does not know the address also answers 404, but not in JSON.
  if (status === 404 && isJson) return { kind: 'not-found', message };
  if (status < 200 || status > 299) return { kind: 'unavailable', message };
  if (!isJson) return { kind: 'malformed', message: 'its answer is not JSON' };
  return holdsAnything(data) ? undefined : { kind: 'malformed', message: 'its answer has no data' };
}

/** Whether the problem proves that a change was not made; otherwise it may have been. */
export function provesNoChange({ kind }: TrackerProblem): boolean {
  return kind !== 'unavailable' && kind !== 'malformed';
}

export type TrackerQuota = { limit: number; remaining: number; resetAt: number | undefined };

/** The request quota in an answer's headers. */
export function readTrackerQuota(header: TrackerResponse['header']): TrackerQuota | undefined {
  const limit = numberIn(header('x-ratelimit-requests-limit'));
  const remaining = numberIn(header('x-ratelimit-requests-remaining'));
  if (limit === undefined || remaining === undefined) return undefined;
  return { limit, remaining, resetAt: numberIn(header('x-ratelimit-requests-reset')) };
}

/** How long not to call the API: as long as it asks, else until the used-up quota resets. */
function pauseOf({ header, receivedAt }: TrackerResponse): number {
  const asked = header('retry-after')?.trim() ?? '';
  const seconds = numberIn(asked);
  const resets = ['requests', 'complexity']
    .filter((unit) => numberIn(header(`x-ratelimit-${unit}-remaining`)) === 0)
    .map((unit) => numberIn(header(`x-ratelimit-${unit}-reset`)) ?? 0);
  const until =
    seconds === undefined ? Math.max(Date.parse(asked) || 0, ...resets) : receivedAt + seconds * 1000;
  if (until === 0) return ASSUMED_PAUSE_MS;
  return Math.min(Math.max(until - receivedAt, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

function isNotFound({ message, extensions }: ApiError): boolean {
  return /entity not found|could not find/i.test(`${message} ${extensions.userPresentableMessage ?? ''}`);
}

/** The API's message, which must not be able to control a terminal or fill a screen. */
function messageOf({ message, extensions }: ApiError): string {
  const words = message || extensions.userPresentableMessage || extensions.code || 'no error message';
  return cutText(words.replaceAll(/\p{Cc}+/gu, ' ').replace(/[.\s]+$/, ''), LONGEST_MESSAGE);
}

function holdsAnything(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.values(data).some((value) => value !== null);
}

function numberIn(text: string | null | undefined): number | undefined {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

// The shape of each answer from the tracker, with only the fields that our queries request.

/** Ids and keys are printed, so no other characters are allowed in them. */
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

/** If the type is `blocks`, `issue` is the one that blocks. */
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

/** Without a user it was written by an integration. */
const TrackerComment = z.object({
  id,
  body: z.string(),
  createdAt: z.string(),
  user: z.object({ id, name: z.string() }).nullable(),
  botActor: z.object({ name: z.string().nullable() }).nullable(),
});

/** A workspace label has no team. A group contains labels and cannot be put on an issue itself. */
export const TrackerLabel = z.object({
  id,
  name: z.string(),
  isGroup: z.boolean(),
  team: z.object({ id }).nullable(),
});

/** A filed ticket: its identifier and its URL. */
export const FiledIssue = TrackerIssue.pick({ id: true, identifier: true, url: true });

/** Keyed by the name of the query. */
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
  IssueText: z.object({
    viewer: z.object({ id }),
    issue: z.object({
      title: z.string(),
      description: z.string().nullable(),
      url: z.string(),
      state: z.object({ name: z.string() }),
      creator: z.object({ name: z.string() }).nullable(),
      parent: TrackerIssue.pick({ identifier: true, title: true, url: true }).nullable(),
      labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
      attachments: z.object({ nodes: z.array(z.object({ title: z.string(), url: z.string() })) }),
      comments: pageOf(TrackerComment),
    }),
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
export type TrackerComment = z.infer<typeof TrackerComment>;
export type FiledIssue = z.infer<typeof FiledIssue>;
export type TrackerIssueState = Pick<TrackerIssue, 'id' | 'identifier' | 'state' | 'team'>;
