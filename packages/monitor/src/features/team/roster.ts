// Who is in a team, and the line that invites a machine into it.
import { z } from 'zod';
import { LONGEST_NAME, MachineId } from '../board/team-entity.ts';
import { ChosenName } from './names.ts';

const bytes = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** 32 bytes, written in the only way. */
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/);
const id = MachineId;
const name = z.string().min(1).max(LONGEST_NAME);

export const TeamMember = z.object({
  id: id.describe('of the machine'),
  person: name,
  machine: name,
  role: z.enum(['admin', 'member']),
  agree: publicKey.describe('X25519 public key'),
});
export type TeamMember = z.infer<typeof TeamMember>;

/** The encrypted part of the roster. */
export const Roster = z.object({
  team: name,
  names: bytes.describe('the key that names things in paths'),
  members: z.array(TeamMember),
  removed: z.array(id).describe('machines that were members'),
});
export type Roster = z.infer<typeof Roster>;

/** What the new machine encrypts with a key of the invitation. */
export const JoinRequest = z.object({
  sign: publicKey,
  agree: publicKey,
  person: ChosenName,
  machine: ChosenName,
});
export type JoinRequest = z.infer<typeof JoinRequest>;

export const INVITATION_MS = 3_600_000;

export type Invitation = { channelUrl: string; secret: string; admin: string };

/** The secret is in the fragment, which no client sends to a server. */
export function formatInvitation({ channelUrl, secret, admin }: Invitation): string {
  return `${channelUrl}#${secret}.${admin}`;
}

export function parseInvitation(line: string): Invitation | undefined {
  const [, channelUrl = '', secret = '', admin = ''] =
    /^(https?:\/\/[^#\s]+\/[A-Za-z0-9_-]{1,128})#([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})$/.exec(
      line.trim(),
    ) ?? [];
  return URL.canParse(channelUrl) ? { channelUrl, secret, admin } : undefined;
}

/** How often a machine is heard. */
export const HEARTBEAT_MS = 30_000;
/** A machine that was not heard for two heartbeats is shown with the age of what is known of it. */
export const SILENT_MS = 70_000;

/** The value of the record of kind `machine`. It is signed, so the relay cannot leave out what it names unnoticed. */
export const Heartbeat = z.object({
  version: z.string().max(100),
  at: z.iso.datetime(),
  instance: z.string().max(100).describe('the process'),
  tick: z.number().min(0).describe('milliseconds by a clock of the process that only grows'),
  roster: z.int().describe('the version of the list of members that it uses'),
  records: z.object({
    count: z.int().min(0).describe('its own records at the relay, without heartbeat'),
    digest: z.string().max(100).describe('SHA-256 of their paths and versions'),
    pending: z.int().min(0).describe('changes that the relay has not taken'),
  }),
  heard: z.record(MachineId, z.int()).describe('the version of the newest heartbeat of each other machine'),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

export const recordRefusals = {
  unreadable: 'a record cannot be read, or was cut',
  'unknown-machine': 'a record is from a machine that is not in the team',
  'removed-machine': 'a record is from a machine that was removed from the team',
  'bad-signature': 'the signature of a record is wrong',
  'old-version': 'a record is older than the one that is known',
  'wrong-epoch': 'a record has a team key that does not exist',
  'wrong-key': 'a record cannot be decrypted, or was moved to another path',
  'wrong-value': 'the content of a record is not what its path says',
  'not-asked': 'a result is from a machine that was not asked',
  'too-many-commands': 'a machine sends more commands than are remembered',
  'wrong-join': 'a machine that wants to join has a key or a name that cannot be used',
  'taken-name': 'a machine that wants to join has the name of another member',
  'used-invitation': 'an invitation was used a second time',
  'expired-invitation': 'an invitation was used after it had expired',
} as const;
export type RecordRefusal = keyof typeof recordRefusals;
