import { expect, test } from 'vitest';
import { type CodehostProblem, codehostProblemWords, passesByItself } from './problem.ts';

const until = Date.UTC(2026, 0, 1, 12);

test.each<[CodehostProblem, RegExp, RegExp, boolean]>([
  [{ kind: 'gh-missing', message: 'ENOENT' }, /gh cannot be started/, /Install gh/, false],
  [{ kind: 'logged-out', message: 'no token' }, /not logged in/, /gh auth login/, false],
  [{ kind: 'no-admin', message: 'HTTP 403' }, /no admin access/, /Get admin access/, false],
  [
    { kind: 'no-admin', message: 'HTTP 404', scope: 'admin:repo_hook' },
    /lacks the scope/,
    /gh auth refresh -s admin:repo_hook/,
    false,
  ],
  [{ kind: 'repo-gone', message: 'HTTP 404' }, /does not exist/, /watchRepos/, false],
  [{ kind: 'not-found', message: 'HTTP 404' }, /could not find it/, /automatically/, false],
  [{ kind: 'refused', status: 422, message: 'HTTP 422: no' }, /the call: HTTP 422: no/, /logs/, false],
  [{ kind: 'unavailable', message: 'HTTP 502' }, /cannot be reached/, /automatically/, true],
  [{ kind: 'rate-limited', message: 'HTTP 403', until }, /quota/, /2026-01-01T12:00:00.000Z/, true],
  [{ kind: 'throttled', message: 'enough', until }, /paused/, /2026-01-01T12:00:00.000Z/, true],
  [{ kind: 'malformed', message: 'no JSON' }, /cannot be understood/, /automatically/, true],
])('%o', (problem, why, remedy, passes) => {
  const words = codehostProblemWords(problem);
  expect(words.code).toBe(problem.kind);
  expect(words.why).toMatch(why);
  expect(words.remedy).toMatch(remedy);
  expect(passesByItself(problem)).toBe(passes);
});

test.each([
  { kind: 'unavailable', message: 'no answer within 30 s' },
  { kind: 'malformed', message: 'it is not JSON' },
  { kind: 'throttled', message: 'it failed several times in a row', until, isFailing: true },
] as const)('$kind, as from a gh that hangs or prints garbage: how to check gh', (problem) => {
  expect(codehostProblemWords(problem).remedy).toMatch(/retried automatically.*\. .* gh api user$/);
});
