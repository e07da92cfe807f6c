// Who is calling: a personal key stands bare in the header, an OAuth token behind `Bearer`.
import type { UserRow } from './records.ts';
import { Refusal } from './refusal.ts';

export type KnownToken = { token: string; kind: 'key' | 'oauth'; user: UserRow };

export function callerOf(header: string | undefined, known: readonly KnownToken[]): UserRow {
  const isBearer = header?.startsWith('Bearer ') ?? false;
  const token = isBearer ? header?.slice('Bearer '.length) : header;
  const found = known.find((one) => one.token === token);
  if (!found) throw new Refusal('AUTHENTICATION_ERROR', 'Authentication required, not authenticated');
  if (isBearer !== (found.kind === 'oauth')) {
    throw new Refusal('AUTHENTICATION_ERROR', 'An API key is sent without Bearer, an OAuth token with it');
  }
  return found.user;
}
