// Reads an answer of the code host's REST API: the remaining quota, and the problem, if any. The code host's times are
// converted to our clock by the Date header, so a wrong clock here does no harm.
import { parsedJson } from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import { z } from 'zod';
import type { CodehostProblem } from './problem.ts';

export type CodehostAnswer = {
  status: number;
  /** Keyed by the name in lower case. */
  header: (name: string) => string | undefined;
  body: string;
  /** When it arrived, in milliseconds on our clock. */
  receivedAt: number;
};

/** `resource` is the quota's name: `core` for REST, `graphql`. */
export type ApiQuota = { resource: string; limit: number; remaining: number; resetAt: number };

const ASSUMED_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;
const LONGEST_MESSAGE = 300;

const ErrorBody = z.object({
  message: z.string().catch(''),
  errors: z
    .array(z.object({ message: z.string().catch('') }))
    .optional()
    .catch(undefined),
});

export function readApiQuota(answer: CodehostAnswer): ApiQuota | undefined {
  const limit = numberIn(answer.header('x-ratelimit-limit'));
  const remaining = numberIn(answer.header('x-ratelimit-remaining'));
  const reset = numberIn(answer.header('x-ratelimit-reset'));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const wait = boundedWait(reset * 1000 - hostTimeOf(answer));
  const resource = answer.header('x-ratelimit-resource') ?? 'core';
  return { resource, limit, remaining, resetAt: answer.receivedAt + wait };
}

/** The current time at the code host. */
export function hostTimeOf({ header, receivedAt }: CodehostAnswer): number {
  const serverTime = Date.parse(header('date') ?? '');
  return Number.isFinite(serverTime) ? serverTime : receivedAt;
}

/** The problem that the answer reports; undefined if it is a success. */
export function problemIn(answer: CodehostAnswer): CodehostProblem | undefined {
  const { status } = answer;
  if (status >= 200 && status <= 299) return undefined;
  const message = messageOf(answer);
  if (status === 401) return { kind: 'logged-out', message };
  if (isRateLimit(answer, message)) return { kind: 'rate-limited', message, ...pauseAskedBy(answer) };
  if (status >= 500 || status === 408) return { kind: 'unavailable', message };
  const scope = missingScope(answer);
  if (status === 403) return { kind: 'no-admin', message, ...(scope !== undefined && { scope }) };
  // The code host answers 404 for anything that the token may not see.
  if (status === 404 && scope !== undefined) return { kind: 'no-admin', message, scope };
  if (status === 404 || status === 410) return { kind: 'not-found', message };
  if (status >= 300 && status <= 399) return { kind: 'repo-gone', message: `moved, ${message}` };
  return { kind: 'refused', status, message };
}

function isRateLimit({ status, header }: CodehostAnswer, message: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    header('x-ratelimit-remaining') === '0' ||
    header('retry-after') !== undefined ||
    /rate limit|abuse detection/i.test(message)
  );
}

/** As long as it asks for; else until the quota resets; else a minute, as its documentation says. */
function pauseAskedBy(answer: CodehostAnswer): { until: number; resource?: string } {
  const { receivedAt } = answer;
  const asked = answer.header('retry-after')?.trim() ?? '';
  const seconds = numberIn(asked);
  if (seconds !== undefined) return { until: receivedAt + boundedWait(seconds * 1000) };
  const date = Date.parse(asked);
  if (Number.isFinite(date)) return { until: receivedAt + boundedWait(date - hostTimeOf(answer)) };
  return pauseByQuota(answer);
}

/** Until the used-up quota resets; a minute for everything if none is used up. */
function pauseByQuota(answer: CodehostAnswer): { until: number; resource?: string } {
  const quota = readApiQuota(answer);
  if (quota?.remaining !== 0) return { until: answer.receivedAt + ASSUMED_PAUSE_MS };
  return { until: quota.resetAt, resource: quota.resource };
}

/** The scope that would have allowed it, if the answer shows that the token has none of the accepted scopes. */
function missingScope({ header }: CodehostAnswer): string | undefined {
  const has = header('x-oauth-scopes');
  const accepted = scopesIn(header('x-accepted-oauth-scopes'));
  if (has === undefined || accepted.length === 0) return undefined;
  const held = scopesIn(has);
  if (accepted.some((scope) => held.includes(scope))) return undefined;
  return accepted.find((scope) => scope.startsWith('admin:')) ?? accepted[0];
}

function scopesIn(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => /^[a-z:_]+$/.test(scope));
}

function messageOf({ status, body }: CodehostAnswer): string {
  const read = ErrorBody.safeParse(parsedJson(body));
  const parts = read.success
    ? [read.data.message, ...(read.data.errors ?? []).map((error) => error.message)]
    : [];
  const words = parts.filter((part) => part !== '').join(': ');
  return words === '' ? `HTTP ${status}` : `HTTP ${status}: ${plainWords(words)}`;
}

/** A foreign text must not be able to control a terminal or fill a screen. */
export function plainWords(text: string): string {
  return cutText(text.replaceAll(/\p{Cc}+/gu, ' ').replace(/[.\s]+$/, ''), LONGEST_MESSAGE).trim();
}

function boundedWait(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, 0), LONGEST_PAUSE_MS);
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

// An answer of the code host's GraphQL API: data, and errors that each belong to a part of it. One missing repository
// must not hide the others.

const Errors = z.array(
  z.object({
    type: z.string().optional().catch(undefined),
    message: z.string().catch('an error without a message'),
    path: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .catch(undefined),
  }),
);
const Body = z.object({ data: z.record(z.string(), z.unknown()).nullish(), errors: Errors.optional() });

export type GraphqlError = z.infer<typeof Errors>[number];
export type GraphqlAnswer = { data: Record<string, unknown>; errors: GraphqlError[] };

export function readGraphqlAnswer(
  answer: CodehostAnswer,
  json: unknown,
): { ok: true; value: GraphqlAnswer } | { ok: false; problem: CodehostProblem } {
  const body = Body.safeParse(json);
  if (!body.success) return failed({ kind: 'malformed', message: 'it is not a GraphQL answer' });
  const { data, errors = [] } = body.data;
  const [first] = errors;
  const message = plainWords(first?.message ?? 'no data');
  if (errors.some(({ type }) => type === 'RATE_LIMITED'))
    return failed({ kind: 'rate-limited', message, ...pauseByQuota(answer) });
  if (data === null || data === undefined) return failed({ kind: 'refused', status: answer.status, message });
  return { ok: true, value: { data, errors } };
}

/** The problem that an error indicates for its repository. */
export function problemOfGraphql({ type, message }: GraphqlError): CodehostProblem {
  const words = plainWords(message);
  if (type === 'NOT_FOUND') return { kind: 'repo-gone', message: words };
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') return { kind: 'no-admin', message: words };
  return { kind: 'refused', status: 200, message: words };
}

function failed(problem: CodehostProblem): { ok: false; problem: CodehostProblem } {
  return { ok: false, problem };
}
