// What a backup holds: the last file of its archive, with the checksum of every other one.
import { z } from 'zod';

/** The folders of a backup; each has one place on a machine. */
export const backupParts = [
  'config',
  'events',
  'runs',
  'archive',
  'comms',
  'spool',
  'database',
  'identity',
] as const;

export type BackupPart = (typeof backupParts)[number];

export const BACKUP_MANIFEST = 'manifest.json';

/** Stands in a configuration file where a secret was. */
export const SECRET_MARKER = '<secret: not in this backup>';

const LONGEST_PATH = 4_096;
/** Names that a terminal, a shell or a disk could take for something else. */
const UNFIT = /[\p{Cc}\uFFFD\\]|\p{Surrogate}/u;

const BackupFile = z.object({
  path: z.string().refine(isBackupPath, 'it does not belong into a backup'),
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const BackupManifest = z.object({
  format: z.literal('svc-backup'),
  version: z.literal(1),
  madeAt: z.iso.datetime(),
  svcVersion: z.string(),
  hostName: z.string(),
  /** Whether it holds secrets; where not, what was left out. */
  withSecrets: z.boolean(),
  leftOut: z.array(z.object({ file: z.string(), key: z.string() })),
  withEvents: z.boolean(),
  /** Where the archive lay: its index goes by that. */
  archiveRoot: z.string(),
  /** Folders of projects; they are repositories, and not in the backup. */
  projects: z.array(z.string()),
  files: z.array(BackupFile),
});

export type BackupManifest = z.infer<typeof BackupManifest>;
export type BackupFile = z.infer<typeof BackupFile>;

/** `part/name/…`: relative, in a part that there is, without steps up. */
export function isBackupPath(path: string): boolean {
  if (path.length > LONGEST_PATH || UNFIT.test(path)) return false;
  const [part = '', ...names] = path.split('/');
  if (!(backupParts as readonly string[]).includes(part) || names.length === 0) return false;
  return names.every((name) => name !== '' && name !== '.' && name !== '..');
}

/** Why what was unpacked is not what was packed; undefined when it is. */
export function backupDamage(
  manifest: BackupManifest,
  unpacked: ReadonlyMap<string, { size: number; sha256: string }>,
): string | undefined {
  const told = new Set(manifest.files.map(({ path }) => path));
  const unknown = [...unpacked.keys()].find((path) => !told.has(path));
  if (unknown !== undefined) return `${unknown} is not in its manifest`;
  for (const { path, size, sha256 } of manifest.files) {
    const found = unpacked.get(path);
    if (found === undefined) return `${path} is missing`;
    if (found.size !== size || found.sha256 !== sha256) return `${path} is damaged`;
  }
  return undefined;
}
