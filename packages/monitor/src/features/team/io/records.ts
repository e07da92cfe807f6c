// Records of a team, from the text that the relay sends to a value that can be believed, and back. Every check is here,
// in the order in which it is made: path, machine, signature, version, epoch, decryption, name, content.
import {
  formatRecordPath,
  parseRecordBody,
  parseRecordPath,
  type RecordBody,
  type RecordKind,
  type RecordPath,
  ROSTER_HASH,
  type StoredRecord,
  type TeamAccess,
} from '@svc/contract/relay/record';
import { z } from 'zod';
import type { Board } from '../../../kernel/board/board.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { CommandValue, ResultValue } from '../command.ts';
import { Heartbeat, JoinRequest, type RecordRefusal, Roster } from '../roster.ts';
import { isSharedKind, readShared } from '../shared.ts';
import { type Admitted, isNameTaken } from './roster-changes.ts';
import {
  canShareKey,
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
import { newestKey, type TeamFile, withKey } from './team-file.ts';

/** `isSigned`: by its machine; only the content is refused. */
export type Refused = { refused: RecordRefusal; isSigned?: true };
const refuse = (refused: RecordRefusal): Refused => ({ refused });
const refuseContent = (refused: RecordRefusal): Refused => ({ refused, isSigned: true });

const Sealed = z.object({ key: z.string(), value: z.unknown() });
const JOIN_EPOCH = 0;

export const channelOf = ({ channelUrl }: Pick<TeamFile, 'channelUrl'>): string =>
  channelUrl.slice(channelUrl.lastIndexOf('/') + 1);
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
  now: number,
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
  const use = { channel: channelOf(file), epoch: body.epoch, member: file.keys.id };
  const wrapping = await sharedKey(file.keys.agree, access.agree, 'team key').catch(() => '');
  const key = await unwrapKey(wrapped, wrapping, use);
  if (key === undefined) return refuse('wrong-key');
  const sealed = await valueIn({ channel: channelOf(file), ...path }, key, body);
  const roster = Roster.safeParse(sealed?.value);
  if (!roster.success) return refuse('wrong-key');
  const known = file.teamKeys.find(({ epoch }) => epoch === body.epoch);
  return {
    file: {
      ...file,
      adminAgree: access.agree,
      machines: access.machines,
      roster: roster.data,
      rosterVersion: body.version,
      teamKeys: withKey(file.teamKeys, { epoch: body.epoch, key, since: known?.since ?? now }),
      invitation: null,
    },
  };
}

/**
 * By the administrator, from its file. A member with whom no key can be shared is left out, because the others must get
 * their roster: `unusable` has its id. `now` by the own clock.
 */
export async function makeRoster(
  file: TeamFile,
  now: number,
): Promise<{ record: StoredRecord; unusable: string[] }> {
  const { keys, roster: whole, rosterVersion } = file;
  if (whole === null) throw new Error('there is no roster yet');
  const { epoch, key } = newestKey(file);
  const channel = channelOf(file);
  const access: TeamAccess = {
    readKey: await sha256Hex(await readKeyOf(file)),
    machines: { ...file.machines },
    guests: {},
    agree: keys.agreePublic,
    keys: {},
  };
  const unusable: string[] = [];
  for (const { id, agree } of whole.members) {
    if (!(await canShareKey(keys.agree, agree))) {
      unusable.push(id);
      delete access.machines[id];
      continue;
    }
    const wrapping = await sharedKey(keys.agree, agree, 'team key');
    access.keys[id] = await wrapKey(key, wrapping, { channel, epoch, member: id });
    access.guests[id] = await sha256Hex(await sharedKey(keys.agree, agree, 'roster'));
  }
  for (const { id, secret } of file.invitations.filter((one) => one.listed && one.expiresAt > now))
    access.guests[id] = await sha256Hex((await invitationKeys(secret)).access);
  const roster = { ...whole, members: whole.members.filter(({ id }) => !unusable.includes(id)) };
  const place = { machine: keys.id, kind: 'roster' as const, hash: ROSTER_HASH };
  const body = await seal({ channel, ...place }, { epoch, key }, rosterVersion, {
    key: 'roster',
    value: roster,
  });
  return { record: await signRecord(keys, channel, formatRecordPath(place), { ...body, access }), unusable };
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

/**
 * At the administrator's machine, before anything of it is stored: the only place where a stranger's bytes become part of
 * what it keeps. `now` by its clock.
 */
export async function openJoin(
  file: TeamFile,
  stored: StoredRecord,
  now: number,
): Promise<Refused | Admitted> {
  const parsed = parseStored(stored);
  if (parsed === undefined) return refuse('unreadable');
  const { path, body } = parsed;
  if (file.used.includes(path.machine)) return refuse('used-invitation');
  const invitation = file.invitations.find(({ id }) => id === path.machine);
  if (invitation === undefined) return refuse('unknown-machine');
  if (now > invitation.expiresAt) return refuse('expired-invitation');
  const { join } = await invitationKeys(invitation.secret);
  const sealed = await valueIn({ channel: channelOf(file), ...path }, join, body);
  if (sealed === undefined) return refuse('wrong-key');
  const request = JoinRequest.safeParse(sealed.value);
  if (!request.success || path.hash !== ROSTER_HASH) return refuse('wrong-join');
  const { sign, agree } = request.data;
  if (!(await isSigned(sign, channelOf(file), stored))) return refuse('bad-signature');
  const id = await machineId(sign);
  const isKnown = file.machines[id] !== undefined || file.roster?.removed.includes(id) === true;
  if (isKnown || !(await canShareKey(file.keys.agree, agree))) return refuse('wrong-join');
  const admitted = { ...request.data, id, invitation: invitation.id };
  return isNameTaken(file, admitted) ? refuse('taken-name') : admitted;
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
  if (key === undefined) return refuseContent('wrong-epoch');
  const sealed = await valueIn({ channel: channelOf(file), ...path }, key, body);
  if (sealed === undefined) return refuseContent('wrong-key');
  if ((await nameHash(file.roster.names, path.kind, sealed.key)) !== path.hash)
    return refuseContent('wrong-value');
  const { value } = sealed;
  const isValid = value === null ? body.gone === true : isValue(path.kind, value);
  if (!isValid) return refuseContent('wrong-value');
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
  if (value === null) return [draft('team.record.removed', {}, detail, { via: 'live' })];
  // As it is read, without what is not accepted of another machine.
  const read: Record<string, unknown> = { ...readShared(kind, value)?.value };
  return [draft('team.record.changed', {}, { ...detail, value: read }, { via: 'live' })];
}

/** Lines of what a machine with these paths does not have any more. */
export async function missingLines(
  board: Board,
  names: string,
  of: string,
  paths: ReadonlySet<string>,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const { machine, kind, key, version, value } of board.team.values()) {
    if (value === null || machine !== of) continue;
    const path = formatRecordPath({ machine, kind, hash: await nameHash(names, kind, key) });
    if (!paths.has(path)) drafts.push(draft('team.record.removed', {}, { machine, kind, key, version }));
  }
  return drafts;
}

export function isRoster(record: StoredRecord): boolean {
  return parseRecordPath(record.path)?.kind === 'roster';
}

/** Whether members share records of this kind. */
export function isKnownKind(kind: string): boolean {
  return kind === 'machine' || kind === 'command' || kind === 'result' || isSharedKind(kind);
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
