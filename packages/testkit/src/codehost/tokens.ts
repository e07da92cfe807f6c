// Who is let in, and what the token's scopes allow.
import { notFound, Refusal } from './answer.ts';

export type KnownToken = { token: string; scopes: string[] };

const hookScopes = {
  read: ['admin:repo_hook', 'public_repo', 'read:repo_hook', 'repo', 'write:repo_hook'],
  write: ['admin:repo_hook', 'public_repo', 'repo', 'write:repo_hook'],
  remove: ['admin:repo_hook', 'public_repo', 'repo'],
} as const;

export function callerOf(authorization: string | undefined, known: readonly KnownToken[]): KnownToken {
  if (authorization === undefined) throw new Refusal(401, 'Requires authentication');
  const [, token] = /^(?:token|bearer) (.+)$/i.exec(authorization) ?? [];
  const caller = known.find((one) => one.token === token);
  if (caller === undefined) throw new Refusal(401, 'Bad credentials');
  return caller;
}

/** A token without the scope is told that there is nothing, and which scopes there are. */
export function needHookScope(caller: KnownToken, method: string): void {
  const accepted = hookScopes[method === 'GET' ? 'read' : method === 'DELETE' ? 'remove' : 'write'];
  if (accepted.some((scope) => caller.scopes.includes(scope))) return;
  throw notFound({ 'X-Accepted-OAuth-Scopes': accepted.join(', ') });
}
