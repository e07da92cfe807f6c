// What this machine knows of its team: keys, members and, at the administrator's, open invitations. One file of mode 600
// in the configuration folder; without it the machine is in no team. A new one is checked before it replaces the old one,
// which is kept beside it.
import { isThere } from '@svc/lib/paths';
import { z } from 'zod';
import { earlierTeamFile, teamFile } from '../../../kernel/config/locate.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { ChosenName } from '../names.ts';
import { Roster } from '../roster.ts';

const Jwk = z.looseObject({ kty: z.string() });

const TeamFile = z.object({
  channelUrl: z.url(),
  keys: z.object({ id: z.string(), signPublic: z.string(), sign: Jwk, agreePublic: z.string(), agree: Jwk }),
  person: z.string(),
  machine: z.string(),
  admin: z.string().describe('the id of the administrator’s machine'),
  adminAgree: z.string().nullable(),
  teamKeys: z
    .array(z.object({ epoch: z.int(), key: z.string(), since: z.int().describe('by the own clock') }))
    .describe('newest first'),
  rosterVersion: z.int().describe('an older one is refused'),
  roster: Roster.nullable().describe('null: not admitted yet'),
  machines: z.record(z.string(), z.string()).describe('machine id to Ed25519 public key'),
  invitation: z.string().nullable().describe('the secret, until this machine is admitted'),
  invitations: z.array(
    z.object({
      id: z.string(),
      secret: z.string(),
      expiresAt: z.int(),
      listed: z.boolean().describe('the newest roster has it'),
      person: ChosenName.nullable().describe('a member whose machine may join with it'),
    }),
  ),
  used: z.array(z.string()).describe('ids of invitations that were used'),
});
export type TeamFile = z.infer<typeof TeamFile>;

/** Records of machines that have not published since a change of the key can still be read. */
const KEPT_EPOCHS = 5;

export function newestKey({ teamKeys }: Pick<TeamFile, 'teamKeys'>): TeamFile['teamKeys'][number] {
  return teamKeys[0] ?? { epoch: 0, key: '', since: 0 };
}

export function withKey(
  keys: TeamFile['teamKeys'],
  newest: TeamFile['teamKeys'][number],
): TeamFile['teamKeys'] {
  return [newest, ...keys.filter(({ epoch }) => epoch !== newest.epoch)].slice(0, KEPT_EPOCHS);
}

export async function readTeamFile(configDir: string): Promise<TeamFile | undefined> {
  const path = teamFile(configDir);
  const text = await readSecretFile(path);
  // An empty file, or a link to nothing, is not the decision to be in no team.
  if (text === undefined && !(await isThere(path))) return undefined;
  const file = teamFileIn(text ?? '');
  if (file !== undefined) return file;
  const copy = earlierTeamFile(configDir);
  const hasCopy = teamFileIn((await readSecretFile(copy)) ?? '') !== undefined;
  throw new Failure(
    'file-unusable',
    `The keys of the team in ${path} cannot be read.`,
    hasCopy
      ? `Use the file from before its last change: cp -p ${copy} ${path} && svc monitor restart`
      : `Restore the file from a backup, or give it up and ask for a new invitation: svc team leave`,
  );
}

/** Fails, and changes nothing, if what is written could not be read again. */
export async function writeTeamFile(configDir: string, file: TeamFile): Promise<void> {
  const path = teamFile(configDir);
  const text = JSON.stringify(file);
  if (teamFileIn(text) === undefined)
    throw new Failure(
      'file-unusable',
      'A change of the team was dropped, because its file could not be read afterwards.',
      'Nothing was changed. Report it with: svc feedback',
    );
  const before = await readSecretFile(path);
  if (before !== undefined && teamFileIn(before) !== undefined)
    await writeSecretFile(earlierTeamFile(configDir), before);
  await writeSecretFile(path, text);
}

export async function removeTeamFile(configDir: string): Promise<void> {
  await removeSecretFile(teamFile(configDir));
  await removeSecretFile(earlierTeamFile(configDir));
}

function teamFileIn(text: string): TeamFile | undefined {
  return TeamFile.safeParse(parsed(text)).data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
