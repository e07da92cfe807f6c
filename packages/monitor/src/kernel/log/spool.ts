// Events that helper scripts could not send because the daemon was down: one file each, written atomically. The daemon
// takes them in the order of their names. A file is removed only when its line is durable; a crash in between makes no
// second line, because the line has the file's name as its delivery id.
import { mkdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { readdir, readText, reasonOf } from '@svc/lib/paths';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import { type EventDraft, parseEventDraft } from './event-line.ts';
import { LogNotWritable } from './log-entry.ts';
import type { TopicTable } from './topics.ts';
import { watchFolder } from './watch-folder.ts';

/** Files taken at once: that many lines can share one commit. */
const AT_ONCE = 64;
const LARGEST_FILE = 8 * 1024 * 1024;

type RejectedDraft = { file: string; problem: string };

/** The outcome: `left` files are still there, because the log could not be written. */
export type Drained = { taken: number; rejected: RejectedDraft[]; left: number };

export type AppendOnce = (draft: EventDraft) => Promise<unknown>;

/** Leaves an event for the daemon; resolves with the file's name once it would survive a power cut. */
export async function leaveInSpool({
  folder,
  draft,
  now,
  random,
}: {
  folder: string;
  draft: EventDraft;
  now: number;
  /** Makes names of the same millisecond unique: letters and digits. */
  random: string;
}): Promise<string> {
  const name = `${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}-${random}.json`;
  await writeFileAtomically(join(folder, name), JSON.stringify(draft), { mode: 0o600, folderMode: 0o700 });
  return name;
}

/** Takes all files. Stops when the log cannot take one now; the rest stays for the next time. */
export async function drainSpool(
  topics: TopicTable,
  folder: string,
  appendOnce: AppendOnce,
): Promise<Drained> {
  const names = await listSpool(folder);
  const drained: Drained = { taken: 0, rejected: [], left: names.length };
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const some = names.slice(from, from + AT_ONCE);
    const drafts = await Promise.all(some.map((name) => readDraft(topics, join(folder, name), name)));
    const results = await Promise.all(drafts.map((draft) => take(draft, appendOnce)));
    for (const [index, result] of results.entries()) {
      const name = some[index];
      if (name === undefined || result === 'not-now') continue;
      drained.left -= 1;
      if (result === 'gone') continue;
      if (result === 'taken') {
        await unlink(join(folder, name));
        drained.taken += 1;
      } else {
        await reject(folder, name);
        drained.rejected.push({ file: name, problem: result.problem });
      }
    }
    if (results.includes('not-now')) return drained;
  }
  return drained;
}

/** Drains immediately, and again whenever a helper leaves a file. */
export function watchSpool({
  topics,
  folder,
  appendOnce,
  onDrained,
  onFailure,
  pollMs,
}: {
  topics: TopicTable;
  folder: string;
  appendOnce: AppendOnce;
  /** Called when files were taken, rejected or left. */
  onDrained?: (drained: Drained) => void;
  onFailure?: (error: unknown) => void;
  pollMs?: number;
}): { close: () => Promise<void> } {
  const changes = watchFolder({ folder, ...(pollMs !== undefined && { pollMs }) });
  let closed = false;

  async function run(): Promise<void> {
    for (;;) {
      try {
        const drained = await drainSpool(topics, folder, appendOnce);
        if (drained.taken + drained.rejected.length + drained.left > 0) onDrained?.(drained);
      } catch (error) {
        onFailure?.(error);
      }
      if (closed) return;
      await changes.next();
      if (closed) return;
    }
  }

  const running = run();
  return {
    async close() {
      closed = true;
      changes.close();
      await running;
    },
  };
}

async function listSpool(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).toSorted();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

type Problem = { problem: string };

async function readDraft(
  topics: TopicTable,
  path: string,
  name: string,
): Promise<EventDraft | Problem | 'gone' | 'not-now'> {
  let value: unknown;
  try {
    value = JSON.parse(await readText(path, { most: LARGEST_FILE, links: 'keep' }));
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: 'not JSON' };
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT') return 'gone';
    return code === 'ETIMEDOUT' ? 'not-now' : { problem: reasonOf(error) };
  }
  const parsed = parseEventDraft(topics, value);
  if (!parsed.ok) return { problem: parsed.problem };
  return { ...parsed.draft, deliveryId: parsed.draft.deliveryId ?? `spool:${name}` };
}

async function take(
  draft: EventDraft | Problem | 'gone' | 'not-now',
  appendOnce: AppendOnce,
): Promise<'taken' | 'gone' | 'not-now' | Problem> {
  if (typeof draft === 'string' || 'problem' in draft) return draft;
  try {
    await appendOnce(draft);
    return 'taken';
  } catch (error) {
    return error instanceof LogNotWritable ? 'not-now' : { problem: messageOf(error) };
  }
}

/** Kept for a person to inspect, where the daemon does not read it again. */
async function reject(folder: string, name: string): Promise<void> {
  await mkdir(join(folder, 'rejected'), { recursive: true, mode: 0o700 });
  await rename(join(folder, name), join(folder, 'rejected', name));
}
