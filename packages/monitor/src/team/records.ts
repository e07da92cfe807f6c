// Records of a team, from the text that the relay sends to a value that can be believed, and back. Every check is here,
// in the order in which it is made: path, machine, signature, version, epoch, decryption, name, content.
import {
  type Board,
  CommandValue,
  draft,
  type EventDraft,
  formatRecordPath,
  Heartbeat,
  isSharedKind,
  JoinRequest,
  parseRecordBody,
  parseRecordPath,
  type RecordBody,
  type RecordKind,
  type RecordPath,
  type RecordRefusal,
  ResultValue,
  ROSTER_HASH,
  Roster,
  readShared,
  type StoredRecord,
  type TeamAccess,
} from '@svc/core';
import { z } from 'zod';
import {
  derived,
  isSigned,
  machineId,
  nameHash,
  seal,
  sha256Hex,
  sharedKey,
  signRecord,
  unseal,
  unwrapKey,
  wrapKey,
} from './seal.ts';
import type { TeamFile } from './team-file.ts';

export type Refused = { refused: RecordRefusal };
const refuse = (refused: RecordRefusal): Refused => ({ refused });

const Sealed = z.object({ key: z.string(), value: z.unknown() });
const JOIN_EPOCH = 0;
/** Records of machines that have not published since a change of the key can still be read. */
const KEPT_EPOCHS = 5;

export const channelOf = ({ channelUrl }: Pick<TeamFile, 'channelUrl'>): string =>
  channelUrl.slice(channelUrl.lastIndexOf('/') + 1);
export const newestKey = ({ teamKeys }: Pick<TeamFile, 'teamKeys'>) => teamKeys[0] ?? { epoch: 0, key: '' };
export function withKey(
  keys: TeamFile['teamKeys'],
  newest: TeamFile['teamKeys'][number],
): TeamFile['teamKeys'] {
  return [newest, ...keys.filter(({ epoch }) => epoch !== newest.epoch)].slice(0, KEPT_EPOCHS);
}
export const readKeyOf = (file: TeamFile): Promise<string> => derived(newestKey(file).key, 'read');

/** With which a member can always read the roster. */
const rosterKeyOf = (file: TeamFile, adminAgree: string): Promise<string> =>
  sharedKey(file.keys.agree, adminAgree, 'roster');

export const invitationKeys = async (secret: string) => ({
  id: (await derived(secret, 'id')).slice(0, 22),
  access: await derived(secret, 'access'),
  join: await derived(secret, 'join'),
});

/** The keys that may open it, in the order in which they are tried. Only the first shows more than the roster. */
export async function streamKeys(own: TeamFile): Promise<string[]> {
  const { invitation, adminAgree, roster } = own;
  return [
    roster === null ? '' : await readKeyOf(own),
    ...(invitation === null ? [] : [(await invitationKeys(invitation)).access]),
    ...(adminAgree === null ? [] : [await rosterKeyOf(own, adminAgree)]),
  ];
}

type Parsed = { path: RecordPath; body: RecordBody };

export function parseStored({ path: text, body: bodyText }: StoredRecord): Parsed | undefined {
  const path = parseRecordPath(text);
  const body = parseRecordBody(bodyText);
  return path && body && { path, body };
}

// The roster.

/** The file after a roster: with its members, and the team key if it is new. Undefined: this machine is not in it. */
export async function openRoster(
  file: TeamFile,
  stored: StoredRecord,
): Promise<Refused | { file: TeamFile | undefined }> {
  const parsed = parseStored(stored);
  const access = parsed?.body.access;
  if (parsed === undefined || access === undefined) return refuse('unreadable');
  const { path, body } = parsed;
  if (path.machine !== file.admin || path.hash !== ROSTER_HASH) return refuse('unknown-machine');
  const adminKey = access.machines[file.admin] ?? '';
  if ((await machineId(adminKey)) !== file.admin) return refuse('unknown-machine');
  if (!(await isSigned(adminKey, channelOf(file), stored))) return refuse('bad-signature');
  if (body.version < file.rosterVersion) return refuse('old-version');
  const wrapped = access.keys[file.keys.id];
  if (wrapped === undefined)
    return { file: file.roster === null ? { ...file, adminAgree: access.agree } : undefined };
  const key = await unwrapKey(wrapped, await sharedKey(file.keys.agree, access.agree, 'team key'));
  if (key === undefined) return refuse('wrong-key');
  const sealed = await valueIn({ channel: channelOf(file), ...path }, key, body);
  const roster = Roster.safeParse(sealed?.value);
  if (!roster.success) return refuse('wrong-key');
  return {
    file: {
      ...file,
      adminAgree: access.agree,
      machines: access.machines,
      roster: roster.data,
      rosterVersion: body.version,
      teamKeys: withKey(file.teamKeys, { epoch: body.epoch, key }),
      invitation: null,
    },
  };
}

/** By the administrator, from its file. */
export async function makeRoster(file: TeamFile): Promise<StoredRecord> {
  const { keys, roster, machines, rosterVersion } = file;
  if (roster === null) throw new Error('there is no roster yet');
  const { epoch, key } = newestKey(file);
  const access: TeamAccess = {
    readKey: await sha256Hex(await readKeyOf(file)),
    machines,
    guests: {},
    agree: keys.agreePublic,
    keys: {},
  };
  for (const { id, agree } of roster.members) {
    access.keys[id] = await wrapKey(key, await sharedKey(keys.agree, agree, 'team key'));
    access.guests[id] = await sha256Hex(await sharedKey(keys.agree, agree, 'roster'));
  }
  for (const { id, secret } of file.invitations.filter(({ expiresAt }) => expiresAt > rosterVersion))
    access.guests[id] = await sha256Hex((await invitationKeys(secret)).access);
  const place = { machine: keys.id, kind: 'roster' as const, hash: ROSTER_HASH };
  const channel = channelOf(file);
  const body = await seal({ channel, ...place }, { epoch, key }, rosterVersion, {
    key: 'roster',
    value: roster,
  });
  return signRecord(keys, channel, formatRecordPath(place), { ...body, access });
}

// Joining.

export async function makeJoin(file: TeamFile, secret: string): Promise<StoredRecord & { access: string }> {
  const { id, join, access } = await invitationKeys(secret);
  const { keys, person, machine } = file;
  const place = { machine: id, kind: 'join' as const, hash: ROSTER_HASH };
  const request: JoinRequest = { sign: keys.signPublic, agree: keys.agreePublic, person, machine };
  const channel = channelOf(file);
  const sealed = { key: 'join', value: request };
  const body = await seal({ channel, ...place }, { epoch: JOIN_EPOCH, key: join }, 1, sealed);
  return { ...(await signRecord(keys, channel, formatRecordPath(place), body)), access };
}

/** At the administrator's machine. `now` by its clock. */
export async function openJoin(
  file: TeamFile,
  stored: StoredRecord,
  now: number,
): Promise<Refused | (JoinRequest & { id: string; invitation: string })> {
  const parsed = parseStored(stored);
  if (parsed === undefined) return refuse('unreadable');
  const { path, body } = parsed;
  if (file.used.includes(path.machine)) return refuse('used-invitation');
  const invitation = file.invitations.find(({ id }) => id === path.machine);
  if (invitation === undefined) return refuse('unknown-machine');
  if (now > invitation.expiresAt) return refuse('expired-invitation');
  const { join } = await invitationKeys(invitation.secret);
  const sealed = await valueIn({ channel: channelOf(file), ...path }, join, body);
  const request = JoinRequest.safeParse(sealed?.value);
  if (!request.success) return refuse('wrong-key');
  if (!(await isSigned(request.data.sign, channelOf(file), stored))) return refuse('bad-signature');
  return { ...request.data, id: await machineId(request.data.sign), invitation: invitation.id };
}

// Everything else.

export type OpenedRecord = {
  machine: string;
  kind: RecordKind;
  key: string;
  version: number;
  epoch: number;
  value: unknown;
};

/**
 * `known`: the version that is known of the path; 0 for none. A record with that version is returned again: it may come
 * twice, and the caller leaves it.
 */
export async function openRecord(
  file: TeamFile,
  stored: StoredRecord,
  known: number,
): Promise<Refused | OpenedRecord> {
  const parsed = parseStored(stored);
  if (parsed === undefined || file.roster === null) return refuse('unreadable');
  const { path, body } = parsed;
  const signPublic = file.machines[path.machine];
  if (file.roster.removed.includes(path.machine)) return refuse('removed-machine');
  if (signPublic === undefined || (await machineId(signPublic)) !== path.machine)
    return refuse('unknown-machine');
  if (!(await isSigned(signPublic, channelOf(file), stored))) return refuse('bad-signature');
  if (body.version < known) return refuse('old-version');
  const key = file.teamKeys.find(({ epoch }) => epoch === body.epoch)?.key;
  if (key === undefined) return refuse('wrong-epoch');
  const sealed = await valueIn({ channel: channelOf(file), ...path }, key, body);
  if (sealed === undefined) return refuse('wrong-key');
  if ((await nameHash(file.roster.names, path.kind, sealed.key)) !== path.hash) return refuse('wrong-value');
  const { value } = sealed;
  const isValid = value === null ? body.gone === true : isValue(path.kind, value);
  if (!isValid) return refuse('wrong-value');
  return { ...path, key: sealed.key, version: body.version, epoch: body.epoch, value };
}

/** The line of a record that the board of the team shows. None if the board has it, or something newer. */
export function sharedLines(
  board: Board,
  { machine, kind, key, version, value }: OpenedRecord,
): EventDraft[] {
  const known = board.team.get(`${machine}/${kind}/${key}`);
  if (!isSharedKind(kind) || (known?.version ?? 0) >= version || (value === null && known === undefined))
    return [];
  const detail = { machine, kind, key, version };
  return value === null
    ? [draft('team.record.removed', {}, detail, { via: 'live' })]
    : [
        draft(
          'team.record.changed',
          {},
          { ...detail, value: value as Record<string, unknown> },
          { via: 'live' },
        ),
      ];
}

function isValue(kind: RecordKind, value: unknown): boolean {
  if (kind === 'machine') return Heartbeat.safeParse(value).success;
  if (kind === 'command') return CommandValue.safeParse(value).success;
  if (kind === 'result') return ResultValue.safeParse(value).success;
  return isSharedKind(kind) && readShared(kind, value) !== undefined;
}

/** Null as the value: the thing no longer exists. */
export async function makeRecord(
  file: TeamFile,
  path: { kind: RecordKind; hash: string },
  version: number,
  sealed: { key: string; value: unknown },
): Promise<StoredRecord> {
  const channel = channelOf(file);
  const place = { machine: file.keys.id, ...path };
  const body = await seal({ channel, ...place }, newestKey(file), version, sealed);
  return signRecord(file.keys, channel, formatRecordPath(place), body);
}

async function valueIn(place: Parameters<typeof unseal>[0], key: string, body: RecordBody) {
  return Sealed.safeParse(await unseal(place, key, body)).data;
}
