// What this machine knows of its team: keys, members and, at the administrator's, open invitations. One file of mode 600
// in the configuration folder; without it the machine is in no team.
import { Roster } from '@svc/core';
import { z } from 'zod';
import { teamFile } from '../config/locate.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../disk/atomic-write.ts';
import { Failure } from '../errors.ts';

const Jwk = z.looseObject({ kty: z.string() });

const TeamFile = z.object({
  channelUrl: z.url(),
  keys: z.object({ id: z.string(), signPublic: z.string(), sign: Jwk, agreePublic: z.string(), agree: Jwk }),
  person: z.string(),
  machine: z.string(),
  admin: z.string().describe('the id of the administrator’s machine'),
  adminAgree: z.string().nullable(),
  teamKeys: z.array(z.object({ epoch: z.int(), key: z.string() })).describe('newest first'),
  rosterVersion: z.int().describe('an older one is refused'),
  roster: Roster.nullable().describe('null: not admitted yet'),
  machines: z.record(z.string(), z.string()).describe('machine id to Ed25519 public key'),
  invitation: z.string().nullable().describe('the secret, until this machine is admitted'),
  invitations: z.array(z.object({ id: z.string(), secret: z.string(), expiresAt: z.int() })),
  used: z.array(z.string()).describe('ids of invitations that were used'),
});
export type TeamFile = z.infer<typeof TeamFile>;

export async function readTeamFile(configDir: string): Promise<TeamFile | undefined> {
  const path = teamFile(configDir);
  const text = await readSecretFile(path);
  if (text === undefined) return undefined;
  const read = TeamFile.safeParse(parsed(text));
  if (read.success) return read.data;
  throw new Failure(
    'file-unusable',
    `The keys of the team in ${path} cannot be read.`,
    `Restore the file from a backup, or remove it and ask for a new invitation: rm ${path}`,
  );
}

export async function writeTeamFile(configDir: string, file: TeamFile): Promise<void> {
  await writeSecretFile(teamFile(configDir), JSON.stringify(file));
}

export async function removeTeamFile(configDir: string): Promise<void> {
  await removeSecretFile(teamFile(configDir));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
