// An answer of the code host's GraphQL API: data, and beside it errors that each belong to a part of it. One
// repository that is gone must not hide the others.
import { z } from 'zod';
import { type CodehostAnswer, pauseByQuota, plainWords } from './api-answer.ts';
import type { CodehostProblem } from './problem.ts';

const Errors = z.array(
  z.object({
    type: z.string().optional().catch(undefined),
    message: z.string().catch('an error without words'),
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
  if (!body.success) return failed({ kind: 'malformed', message: 'it is no GraphQL answer' });
  const { data, errors = [] } = body.data;
  const [first] = errors;
  const message = plainWords(first?.message ?? 'no data');
  if (errors.some(({ type }) => type === 'RATE_LIMITED'))
    return failed({ kind: 'rate-limited', message, ...pauseByQuota(answer) });
  if (data === null || data === undefined) return failed({ kind: 'refused', status: answer.status, message });
  return { ok: true, value: { data, errors } };
}

/** The problem that an error means for the repository it belongs to. */
export function problemOfGraphql({ type, message }: GraphqlError): CodehostProblem {
  const words = plainWords(message);
  if (type === 'NOT_FOUND') return { kind: 'repo-gone', message: words };
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') return { kind: 'no-admin', message: words };
  return { kind: 'refused', status: 200, message: words };
}

function failed(problem: CodehostProblem): { ok: false; problem: CodehostProblem } {
  return { ok: false, problem };
}
