// What somebody else can do to a file: bytes, types, kinds of file, permissions, links, pipes, sockets, its folder. Each damage
// is saved before and can be repaired.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { canBeOtherUser, OTHER_UID } from '../../packages/testkit/src/access/other-user.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { writeInto } from '../../packages/testkit/src/script.ts';

/** `top` was changed by it, and is what is restored. */
export type Damage = { file: string; top: string; kind: string; saved: string };
type Kinds = Record<string, (file: string) => void>;

/** An ordinary user, because root may read everything. */
export const uid = canBeOtherUser ? OTHER_UID : undefined;

/** Without another process: this is done thousands of times. */
export function own(path: string): void {
  if (uid === undefined) return;
  lchownSync(path, uid, uid);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}

/** Makes a folder removable, whatever its permissions are. */
export function open(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) open(join(folder, entry.name));
}

export function createDamages(savedDir: string, random: Random) {
  const kinds = kindsOf(random);
  const counts = new Map<string, number>();
  const all = Object.keys(kinds);
  /** Damages of the file alone. */
  const ofFile = all.filter((kind) => !kind.includes('its '));

  /** `top` is what the damage may change, and what is restored. */
  function damage(file: string, kind: string, top = file): Damage {
    const saved = save(top);
    kinds[kind]?.(file);
    if (lstatSync(top, { throwIfNoEntry: false }) !== undefined) own(top);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return { file, top, kind, saved };
  }

  function save(top: string): string {
    const saved = join(savedDir, randomUUID());
    mkdirSync(savedDir, { recursive: true, mode: 0o700 });
    cpSync(top, saved, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return saved;
  }

  function restore(top: string, saved: string): void {
    const beside = `${top}.repaired`;
    cpSync(saved, beside, { recursive: true, verbatimSymlinks: true });
    own(beside);
    const now = lstatSync(top, { throwIfNoEntry: false });
    if (now?.isDirectory()) open(top);
    // A file is replaced in one step; anything else has to be removed first.
    if (now?.isDirectory() || lstatSync(beside).isDirectory()) rmSync(top, { recursive: true, force: true });
    renameSync(beside, top);
    rmSync(saved, { recursive: true });
  }

  return {
    all,
    ofFile,
    save,
    restore,
    /** A file that exists afterwards: where its absence is a decision of a person, and no damage. */
    present: ofFile.filter((kind) => kind !== 'removed'),
    counts,
    damage,
    repair: ({ top, saved }: Damage): void => restore(top, saved),
  };
}

function kindsOf(random: Random): Kinds {
  return {
    removed: (file) => rmSync(file, { recursive: true }),
    emptied: (file) => writeFileSync(file, ''),
    cut: (file) => truncateSync(file, random.below(Math.max(1, lstatSync(file).size - 2))),
    'random bytes': (file) => writeFileSync(file, random.bytes(1 + random.below(2_000))),
    'one byte': (file) => {
      const bytes = readFileSync(file);
      bytes[0] = 0;
      writeFileSync(file, bytes);
    },
    'another type': (file) =>
      writeFileSync(file, random.pick(['null', '[]', '"text"', '7', 'true', '{"svc":[]}'])),
    'too large': (file) => truncateSync(file, 3 * 2 ** 30),
    'nested deeply': (file) => writeFileSync(file, '['.repeat(100_000)),
    folder: replaced((file) => mkdirSync(file)),
    'full folder': replaced((file) => writeInto(file, 'x/y', 'text')),
    pipe: replaced((file) => void execFileSync('mkfifo', [file])),
    socket: replaced((file) => {
      const server = createServer().listen(file.length < 100 ? file : '/dev/null/too-long');
      server.on('error', () => undefined).unref();
      if (!existsSync(file)) mkdirSync(file);
    }),
    'link to itself': replaced((file) => symlinkSync(basename(file), file)),
    'link to nothing': replaced((file) => symlinkSync('/nowhere/at/all', file)),
    'link to a device': replaced((file) => symlinkSync('/dev/zero', file)),
    'link to a terminal': replaced((file) => symlinkSync('/dev/tty', file)),
    'link to a name too long': replaced((file) => symlinkSync(`/${'n'.repeat(300)}`, file)),
    'link to another file': replaced((file) => symlinkSync('/etc/hostname', file)),
    'no permission': (file) => chmodSync(file, 0),
    'no permission for its folder': (file) => chmodSync(dirname(file), 0),
    'only listing its folder': (file) => chmodSync(dirname(file), 0o600),
    'its folder is a file': (file) => {
      rmSync(dirname(file), { recursive: true });
      writeFileSync(dirname(file), '');
    },
    'its folder is a link to itself': (file) => {
      rmSync(dirname(file), { recursive: true });
      symlinkSync(basename(dirname(file)), dirname(file));
    },
    'its folder is gone': (file) => rmSync(dirname(file), { recursive: true }),
    'its project is gone': (file) => rmSync(dirname(dirname(file)), { recursive: true }),
    'its project is an empty folder': (file) => {
      rmSync(dirname(dirname(file)), { recursive: true });
      mkdirSync(dirname(dirname(file)));
    },
    'its project is a link to itself': (file) => {
      rmSync(dirname(dirname(file)), { recursive: true });
      symlinkSync(basename(dirname(dirname(file))), dirname(dirname(file)));
    },
    'no permission for its project': (file) => chmodSync(dirname(dirname(file)), 0),
  };
}

function replaced(make: (file: string) => void): (file: string) => void {
  return (file) => {
    rmSync(file, { recursive: true });
    make(file);
  };
}
