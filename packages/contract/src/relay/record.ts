// A team's records, as they travel through the relay. A record is the newest value of one thing that one machine knows:
// its path names the machine, the kind by number, and the thing by a keyed hash. The relay checks who writes, and keeps the
// newest version of each path. Only members can decrypt the value.
import { z } from 'zod';

/** The number of a kind is its place in this list, which must never change. */
export const recordKinds = [
  'roster',
  'join',
  'machine',
  'run',
  'worker',
  'session',
  'attention',
  'command',
  'result',
] as const;

export type RecordKind = (typeof recordKinds)[number];

/** `machine` is a machine's id; for a join, the id of the invitation. */
export type RecordPath = { machine: string; kind: RecordKind; hash: string };

/** For the roster, whose path the relay must know. */
export const ROSTER_HASH = 'A'.repeat(22);

const pathForm = /^([A-Za-z0-9_-]{22})\.(\d{1,2})\.([A-Za-z0-9_-]{22})$/;

export function formatRecordPath({ machine, kind, hash }: RecordPath): string {
  return `${machine}.${recordKinds.indexOf(kind)}.${hash}`;
}

/** Undefined if it is not a path, or one with a kind of a later version. */
export function parseRecordPath(text: string): RecordPath | undefined {
  const [, machine = '', number, hash = ''] = pathForm.exec(text) ?? [];
  const kind = recordKinds[Number(number)];
  return kind === undefined ? undefined : { machine, kind, hash };
}

const bytes = z.string().regex(/^[A-Za-z0-9_-]+$/);
const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What the relay must know of a team, in clear text in the roster. */
export const TeamAccess = z.object({
  readKey: sha256Hex.describe('SHA-256 of the key that reading needs'),
  machines: z.record(id, bytes).describe('machine id to Ed25519 public key'),
  guests: z
    .record(id, sha256Hex)
    .describe('who may read only the roster: id of an invitation or a machine to the SHA-256 of its key'),
  agree: bytes.describe('X25519 public key of the administrator'),
  keys: z.record(id, bytes).describe('machine id to the team key, encrypted for that machine'),
});

export const RecordBody = z.object({
  version: z.int().min(1).describe('grows with each change of the value'),
  epoch: z.int().min(0).describe('the number of the team key; 0: the key of an invitation'),
  nonce: bytes,
  box: bytes.describe('the encrypted value'),
  gone: z.boolean().optional().describe('the thing no longer exists'),
  access: TeamAccess.optional().describe('only in the roster'),
});

export type TeamAccess = z.infer<typeof TeamAccess>;
export type RecordBody = z.infer<typeof RecordBody>;

/** A record as the relay stores and sends it. The signature covers the channel, the path and the exact text of the body. */
export const StoredRecord = z.object({ path: z.string(), signature: z.string(), body: z.string() });
export type StoredRecord = z.infer<typeof StoredRecord>;

export function signedText(channel: string, path: string, body: string): string {
  return `svc-team-1\n${channel}/${path}\n${body}`;
}

/** Longest body, that of the roster, and the most records of one machine. */
export const MAX_RECORD_BYTES = 64 * 1024;
export const MAX_ROSTER_BYTES = 256 * 1024;
export const MAX_RECORDS_PER_MACHINE = 2000;

export function parseRecordBody(text: string): RecordBody | undefined {
  try {
    return RecordBody.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
