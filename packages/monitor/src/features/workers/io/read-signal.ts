// Reads one signal file: whole, bounded, never through a link, and only if its content matches its name.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { SignalFile } from '@svc/contract/signal-file';
import { canonicalJson } from '@svc/lib/canonical-json';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { exactLstat, identityOf, lookAt, lstat, readFile, reasonOf, Unreadable } from '@svc/lib/paths';
import { parseJson } from '../../../kernel/config/read-json.ts';
import type { SignalLocation } from './signal-folder.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * `identity` changes whenever the file is written. It is null when the file was changed so recently that the next change
 * might have the same time.
 */
export type SignalReading =
  | { state: 'ok'; signal: SignalFile; text: string; identity: string | null }
  | { state: 'missing' }
  | {
      state: 'corrupt';
      path: string;
      problem: string;
      identity: string | null;
      /** A link, a pipe, a folder: not a signal file at all. */
      foreign?: boolean;
    };

export async function readSignal(location: SignalLocation): Promise<SignalReading> {
  const { path } = location;
  const corrupt = (problem: string, identity: string | null = null): SignalReading => ({
    state: 'corrupt',
    path,
    problem,
    identity,
  });
  const foreign = (problem: string): SignalReading => ({
    state: 'corrupt',
    path,
    problem,
    identity: null,
    foreign: true,
  });
  try {
    if (!(await inPlainFolders(path))) return foreign('is behind a link, which is not followed.');
    const { bytes, stats } = await readFile(path, { most: MAX_BYTES, links: 'keep' });
    if (bytes.length !== Number(stats.size)) return corrupt('was written to while it was read.');
    return parseSignal(location, bytes, settledIdentity(stats));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' };
    if (!(error instanceof Unreadable)) return corrupt(reasonOf(error));
    if (code === 'EFBIG') return corrupt(error.reason, await settledNow(path));
    return code === 'ETIMEDOUT' ? corrupt(error.reason) : foreign(error.reason);
  }
}

/** The current `identity` of a file; null when it cannot be determined. */
export async function identityNow(path: string): Promise<string | null> {
  const look = await lookAt(path, 'keep');
  return look.state === 'present' ? look.identity : null;
}

/**
 * Shows the watcher whether the log has a file's content: equal for equal meaning. `updatedAt` is left out, because a
 * heartbeat is not a change.
 */
export function signalHash({ updatedAt: _, ...signal }: SignalFile): string {
  return createHash('sha256').update(canonicalJson(signal)).digest('hex');
}

function parseSignal(location: SignalLocation, bytes: Buffer, identity: string | null): SignalReading {
  const { path, orchestrator, ticket } = location;
  const corrupt = (problem: string): SignalReading => ({ state: 'corrupt', path, problem, identity });
  if (bytes.length === 0) return corrupt('is empty.');
  if (!isUtf8(bytes)) return corrupt('is not UTF-8.');
  const text = bytes.toString('utf8');
  const json = parseJson(path, text);
  if (json.state === 'absent') return { state: 'missing' };
  if (json.state === 'broken') return corrupt(json.problem.message);
  const parsed = SignalFile.safeParse(json.data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') || 'the file';
    return corrupt(`is not a status file: ${where}: ${issue?.message ?? 'unknown reason'}`);
  }
  // As it was written: the schema changes no value, but it would put known fields first.
  const signal = json.data as SignalFile;
  if (signal.ticket !== ticket) return corrupt(`is named for ${ticket} but names another ticket.`);
  if (signal.orchestrator !== orchestrator)
    return corrupt(`is in the folder of ${orchestrator} but names another orchestrator.`);
  return { state: 'ok', signal, text, identity };
}

/** The workers folder and the run's folder. */
async function inPlainFolders(path: string): Promise<boolean> {
  const workers = dirname(path);
  const stats = await Promise.all([lstat(workers), lstat(dirname(workers))]);
  return stats.every((folder) => folder.isDirectory());
}

/** File systems may have clocks as coarse as this. */
const SLOWEST_TICK_MS = 2_000;

async function settledNow(path: string): Promise<string | null> {
  const stats = await ifPresent(exactLstat(path));
  return stats === undefined ? null : settledIdentity(stats);
}

function settledIdentity(stats: BigIntStats): string | null {
  return Date.now() - Number(stats.ctimeMs) > SLOWEST_TICK_MS ? identityOf(stats) : null;
}
