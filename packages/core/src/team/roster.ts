// Who is in a team, and the line that invites a machine into it.
import { z } from 'zod';

const bytes = z.string().regex(/^[A-Za-z0-9_-]+$/);
const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const name = z.string().min(1).max(100);

export const TeamMember = z.object({
  id: id.describe('of the machine'),
  person: name,
  machine: name,
  role: z.enum(['admin', 'member']),
  agree: bytes.describe('X25519 public key'),
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
export const JoinRequest = z.object({ sign: bytes, agree: bytes, person: name, machine: name });
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

/** A machine that was not heard for this long is shown with the age of what is known of it. */
export const SILENT_MS = 120_000;
/** How often a machine is heard. */
export const HEARTBEAT_MS = 30_000;

/** The value of the record of kind `machine`. */
export const Heartbeat = z.object({ version: z.string().max(100), at: z.iso.datetime() });

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
  'used-invitation': 'an invitation was used a second time',
  'expired-invitation': 'an invitation was used after it had expired',
} as const;
export type RecordRefusal = keyof typeof recordRefusals;
