// The files that go into a backup, one after the other, each read so that it is whole: the database as SQLite
// copies it, of the log whole lines only, everything else as it stood when it was opened.
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SECRET_MARKER, secretPathsIn } from '@svc/core';
import { setInJson } from '../../config/edit-json.ts';
import { readJsonFile } from '../../config/read-json.ts';
import { Failure, systemErrorCode } from '../../errors.ts';
import { type Places, singleFiles } from './places.ts';

const PIECE = 1024 * 1024;
/** Old months may be compressed. */
const MONTH_FILE = /^\d{4}-(?:0[1-9]|1[0-2])\.jsonl(?:\.zst)?$/;
const NEWLINE = 0x0a;

export type SourceFile = { path: string; size: number; mode: number; bytes: AsyncIterable<Buffer> };
export type LeftOut = { file: string; key: string };
export type SourceOptions = { places: Places; withSecrets: boolean; withEvents: boolean; leftOut: LeftOut[] };

/** The database first: what the log has more, the index catches up with. */
export async function* sourceFiles(options: SourceOptions): AsyncGenerator<SourceFile> {
  const { places, withEvents } = options;
  yield* databaseCopy(places.database);
  yield* plainFile(places.identity, singleFiles.identity ?? '');
  if (withEvents) yield* eventFiles(places.events);
  for (const part of ['runs', 'archive', 'comms', 'spool'] as const) yield* folder(places[part], part);
  yield* configFiles(options);
}

async function* databaseCopy(file: string): AsyncGenerator<SourceFile> {
  if (!existsSync(file)) return;
  const copy = join(dirname(file), `.backup-${crypto.randomUUID()}.db`);
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      database.prepare('VACUUM INTO ?').run(copy);
    } finally {
      database.close();
    }
    yield* plainFile(copy, singleFiles.database ?? '');
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error) || !('errcode' in error)) throw error;
    throw new Failure(
      'file-unusable',
      `The database ${file} cannot be copied: ${error.message}.`,
      'Run: svc doctor',
    );
  } finally {
    await rm(copy, { force: true });
  }
}

async function* eventFiles(eventsDir: string): AsyncGenerator<SourceFile> {
  for (const name of (await namesIn(eventsDir)).filter((one) => MONTH_FILE.test(one)).toSorted())
    yield* plainFile(join(eventsDir, name), `events/${name}`, name.endsWith('.jsonl'));
}

async function* folder(at: string, path: string): AsyncGenerator<SourceFile> {
  const entries = await readdir(at, { withFileTypes: true }).catch(orNone);
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    // Links are left out: what they lead to may be anywhere.
    if (entry.isDirectory()) yield* folder(join(at, entry.name), `${path}/${entry.name}`);
    else if (entry.isFile()) yield* plainFile(join(at, entry.name), `${path}/${entry.name}`);
  }
}

async function* configFiles({ places, withSecrets, leftOut }: SourceOptions): AsyncGenerator<SourceFile> {
  for (const name of (await namesIn(places.config)).toSorted()) {
    const file = join(places.config, name);
    const isConfig = /^config(?:-.*)?\.json$/.test(name);
    if (withSecrets) yield* plainFile(file, `config/${name}`);
    else if (isConfig) yield await withoutSecrets(file, name, leftOut);
    else if (/^(?:linear-)?(?:webhook-secret|relay-read-key)$/.test(name))
      leftOut.push({ file: name, key: '' });
  }
}

async function withoutSecrets(file: string, name: string, leftOut: LeftOut[]): Promise<SourceFile> {
  const read = await readJsonFile(file);
  if (read.state !== 'read')
    throw new Failure(
      'config-invalid',
      `${file} cannot be read, so that nobody can tell what is secret in it.`,
      'Mend it: svc config validate; or take it as it is: --with-secrets',
    );
  let { text } = read;
  for (const path of secretPathsIn(read.data)) {
    text = setInJson(text, path, SECRET_MARKER);
    leftOut.push({ file: name, key: path.join('.') });
  }
  const bytes = Buffer.from(text);
  return { path: `config/${name}`, size: bytes.length, mode: 0o600, bytes: only(bytes) };
}

async function* plainFile(file: string, path: string, wholeLines = false): AsyncGenerator<SourceFile> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // It went while we looked: it is not part of this moment.
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ELOOP') return;
    throw error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return;
    const size = wholeLines ? await endOfLastLine(handle, stats.size) : stats.size;
    yield { path, size, mode: (stats.mode & 0o700) | 0o600, bytes: exactly(handle, size, file) };
  } finally {
    await handle.close();
  }
}

async function* exactly(handle: FileHandle, size: number, file: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE, size - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0)
      throw new Failure(
        'file-unusable',
        `${file} was cut while it was being copied.`,
        'Run the same command again.',
      );
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** The log is being written: what is behind the last line break is not a line yet. */
async function endOfLastLine(handle: FileHandle, size: number): Promise<number> {
  const piece = Buffer.allocUnsafe(PIECE);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - PIECE);
    const { bytesRead } = await handle.read(piece, 0, end - from, from);
    const at = piece.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (at >= 0) return from + at + 1;
    end = from;
  }
  return 0;
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function namesIn(at: string): Promise<string[]> {
  return readdir(at).catch(orNone);
}

function orNone(error: unknown): never[] {
  if (systemErrorCode(error) === 'ENOENT') return [];
  throw error;
}
