// What comes of a call: the value, or the problem.
import type { CodehostProblem } from '@svc/core';

export type GhFailure = { ok: false; problem: CodehostProblem };
export type GhResult<Value> = { ok: true; value: Value } | GhFailure;

export function done<Value>(value: Value): GhResult<Value> {
  return { ok: true, value };
}

export function failed(problem: CodehostProblem): GhFailure {
  return { ok: false, problem };
}

export function malformed(message: string): GhFailure {
  return failed({ kind: 'malformed', message });
}

type Issue = { path: PropertyKey[]; message: string };
type Shape<Value> = {
  safeParse: (
    json: unknown,
  ) => { success: true; data: Value } | { success: false; error: { issues: readonly Issue[] } };
};

/** The value, if it has the shape that the API promises. */
export function parsed<Value>(shape: Shape<Value>, json: unknown): GhResult<Value> {
  const read = shape.safeParse(json);
  if (read.success) return done(read.data);
  const [issue] = read.error.issues;
  return malformed(`${issue?.path.join('.') || 'answer'}: ${issue?.message ?? 'wrong shape'}`);
}
