// Keys: the read key of a channel, and the operator's create key. Only a hash of a key is stored. A key is accepted in a
// header; in an address it would end up in browser histories and in the logs of proxies.
import { hash as hashOnce, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const KEY_BYTES = 32;
const MAX_KEY_CHARACTERS = 512;

/** 256 random bits. It cannot be guessed, so a plain hash is enough. */
export function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

export function hashOfKey(key: string): string {
  return hashOnce('sha256', key, 'hex');
}

/** Whether the request has the key with this hash. Takes the same time for a wrong key as for the right one. */
export function bringsKey(request: IncomingMessage, hash: string): boolean {
  const key = presentedKey(request);
  if (key === undefined) return false;
  const expected = Buffer.from(hash, 'hex');
  const presented = hashOnce('sha256', key, 'buffer');
  return expected.length === presented.length && timingSafeEqual(expected, presented);
}

function presentedKey({ headers }: IncomingMessage): string | undefined {
  const own = headers['x-svc-relay-key'];
  const given = typeof own === 'string' ? own : bearerIn(headers.authorization);
  return given === undefined || given === '' || given.length > MAX_KEY_CHARACTERS ? undefined : given;
}

function bearerIn(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > MAX_KEY_CHARACTERS + 10) return undefined;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}
