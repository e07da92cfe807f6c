// Removes old data by the policy in `svc.retention` and `archive.retention`. Everything is looked at again right before it
// is removed; what cannot be looked at is kept. Each removal is one line of the log.
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { lstat, readdir } from '@svc/lib/paths';
import { every, type Rounds } from '@svc/lib/rounds';
import { singleFlight } from '@svc/lib/single-flight';
import type { Logger } from 'pino';
import { z } from 'zod';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import type { Config } from '../../config.ts';
import type { Retention as Report, RetentionEnd, RetentionItem } from '../api.ts';
import {
  CLOCK_PROOF_MS,
  clockDoubt,
  judgeRetention,
  type RetentionFacts,
  type RetentionVerdict,
  retentionPolicy,
} from '../retention.ts';
import { retentionKinds } from '../topics.ts';
import {
  archiveCandidates,
  type Candidate,
  logCandidates,
  type Sources,
  worktreeCandidates,
} from './files.ts';
import { restoreInterrupted, runCandidates } from './runs.ts';

type Kind = RetentionItem['kind'];

const EVERY_MS = 3_600_000;
/** Sizes that are not known after this time are shown as unknown. */
const MEASURE_MS = 1_000;

export type Retention = {
  report: () => Promise<Report>;
  apply: (by: string) => Promise<RetentionEnd>;
  start: () => void;
  stop: () => Promise<void>;
};

export function createRetention(
  options: Sources & {
    log: Pick<EventLog, 'lastSeqAt' | 'timeOf'> & { append: (draft: EventDraft) => Promise<unknown> };
    logger: Logger;
    everyMs?: number;
  },
): Retention {
  const { machine, config, log, logger, now } = options;
  let last: Report['last'] = null;
  let rounds: Rounds | null = null;
  let stopping = false;

  const judged = (candidate: Candidate, more: Pick<RetentionFacts, 'inUse' | 'unsaved'>) => {
    const facts = candidate.facts();
    const inUse = facts.inUse === null || more.inUse === null ? null : [...facts.inUse, ...more.inUse];
    return judgeRetention({ ...facts, inUse, unsaved: more.unsaved }, now().getTime());
  };
  const isDue = (candidate: Candidate): boolean => judged(candidate, { inUse: [], unsaved: [] }).remove;

  async function doubt(): Promise<string | null> {
    const time = now().getTime();
    const seq = await log.lastSeqAt(time - CLOCK_PROOF_MS).catch((error: unknown) => {
      logger.warn({ err: error }, 'the time of the newest event is not known');
      return undefined;
    });
    if (seq === undefined) return clockDoubt(undefined, time);
    return clockDoubt(seq === 0 ? null : log.timeOf(seq), time);
  }

  async function verdictOn(candidate: Candidate, clock: string | null): Promise<RetentionVerdict> {
    const quick = judged(candidate, { inUse: [], unsaved: [] });
    if (!quick.remove) return quick;
    if (clock !== null) return { remove: false, reason: clock };
    const looked = await candidate.look().catch((error: unknown) => {
      logger.warn({ err: error, path: candidate.path }, 'old data cannot be checked');
      return { inUse: null, unsaved: null };
    });
    return judged(candidate, looked);
  }

  /** What cannot be listed is one item that is kept. */
  async function candidates(unlisted: RetentionItem[]): Promise<Candidate[]> {
    options.board();
    const all: Candidate[] = [];
    for (const [kind, list] of Object.entries(sources) as [Kind, (typeof sources)['runs']][]) {
      const note = (path: string, error: unknown): void => {
        if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
        const reason = `unknown: ${messageOf(error)}`;
        unlisted.push({ kind, name: path, path, bytes: null, changedAt: null, remove: false, reason });
      };
      all.push(...(await list(options, note)));
    }
    return all;
  }

  async function report(): Promise<Report> {
    const items: RetentionItem[] = [];
    const found = await candidates(items);
    const deadline = performance.now() + MEASURE_MS;
    const eventLog = await eventLogItem(machine.eventsDir, deadline);
    const clock = await doubt();
    for (const candidate of found) {
      const isWithRun = candidate.kind === 'journals' && isRunDue(items, candidate.name);
      const verdict = isWithRun
        ? { remove: false, reason: 'removed with its run' }
        : await verdictOn(candidate, clock);
      items.push(await itemOf(candidate, verdict, deadline));
    }
    items.push(eventLog);
    return { automatic: config().svc.retention.automatic, totals: totalsOf(items, config()), items, last };
  }

  const apply = singleFlight(async (by: string): Promise<RetentionEnd> => {
    const end: RetentionEnd = { removed: [], failed: [] };
    const clock = await doubt();
    const noted = by === DAEMON ? await readDue(machine.dataDir) : undefined;
    const due: Record<string, string> = {};
    options.board();
    await restoreInterrupted(machine.runsDir);
    for (const candidate of await candidates([])) {
      if (stopping) break;
      const verdict = await verdictOn(candidate, clock);
      if (!verdict.remove) continue;
      if (noted !== undefined) {
        const since = dueSince(noted[candidate.path], now());
        due[candidate.path] = since.toISOString();
        if (now().getTime() - since.getTime() < TWICE_MS) continue;
      }
      const item = await itemOf(candidate, verdict, performance.now() + MEASURE_MS);
      try {
        await candidate.remove(() => !stopping && isDue(candidate));
      } catch (error) {
        if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
        end.failed.push({ ...item, reason: messageOf(error) });
        logger.warn({ path: item.path, why: messageOf(error) }, 'old data was not removed');
        continue;
      }
      end.removed.push(item);
      await log.append(lineOf(item, by));
    }
    if (noted !== undefined && JSON.stringify(noted) !== JSON.stringify(due))
      await writeFileAtomically(dueFile(machine.dataDir), JSON.stringify(due), { mode: 0o600 });
    last = { at: now().toISOString(), removed: end.removed.length, failed: end.failed };
    return end;
  });

  return {
    report,
    apply,
    start() {
      rounds = every(
        options.everyMs ?? EVERY_MS,
        async () => {
          if (config().svc.retention.automatic && !stopping) await apply(DAEMON);
        },
        (error) => logger.error({ err: error }, 'old data cannot be removed'),
      );
    },
    async stop() {
      stopping = true;
      await rounds?.stop();
    },
  };
}

// The daemon removes by itself only what it found due a day before too: nobody looks at the list first.

const DAEMON = 'the daemon';
const TWICE_MS = 86_400_000;
const Due = z.record(z.string(), z.iso.datetime());

const dueFile = (dataDir: string): string => join(dataDir, 'retention-due.json');

async function readDue(dataDir: string): Promise<Record<string, string>> {
  const read = await readJsonFile(dueFile(dataDir));
  return (read.state === 'read' ? Due.safeParse(read.data).data : undefined) ?? {};
}

/** A time that the clock has not reached was noted with another clock. */
function dueSince(noted: string | undefined, now: Date): Date {
  const since = new Date(noted ?? now);
  return since > now ? now : since;
}

/** The kinds with a policy, in the order in which they are removed: the run's files need no worktree. */
const sources = {
  logs: logCandidates,
  archives: archiveCandidates,
  worktrees: worktreeCandidates,
  runs: runCandidates,
};

async function itemOf(
  candidate: Candidate,
  verdict: RetentionVerdict,
  deadline: number,
): Promise<RetentionItem> {
  const { kind, name, path } = candidate;
  const { changedAt } = candidate.facts();
  const bytes = candidate.bytes ?? (await bytesIn(path, deadline));
  const at = changedAt === null ? null : new Date(changedAt).toISOString();
  return { kind, name, path, bytes, changedAt: at, ...verdict };
}

function isRunDue(items: readonly RetentionItem[], orchestrator: string): boolean {
  return items.some(({ kind, name, remove }) => kind === 'runs' && name === orchestrator && remove);
}

function lineOf({ kind, name, path, bytes, reason }: RetentionItem, by: string): EventDraft {
  return {
    event: 'monitor.retention.removed',
    source: 'monitor',
    via: 'local',
    scope: {},
    detail: { kind, name, path, ...(bytes !== null && { bytes }), reason, by },
  };
}

async function eventLogItem(path: string, deadline: number): Promise<RetentionItem> {
  const bytes = await bytesIn(path, deadline);
  const reason = 'the board is computed from it';
  return { kind: 'event log', name: 'event log', path, bytes, changedAt: null, remove: false, reason };
}

function totalsOf(items: readonly RetentionItem[], config: Config): Report['totals'] {
  return retentionKinds.map((kind) => {
    const own = items.filter((item) => item.kind === kind);
    const { setting, days } = retentionPolicy(config, kind);
    const bytes = own.some((item) => item.bytes === null)
      ? null
      : own.reduce((sum, item) => sum + (item.bytes ?? 0), 0);
    return { kind, setting: setting === '' ? null : setting, days, items: own.length, bytes };
  });
}

/** Bytes of a file or of all files in a folder, links not followed; null when it takes too long or cannot be read. */
export async function bytesIn(path: string, deadline: number): Promise<number | null> {
  if (performance.now() > deadline) return null;
  try {
    const stats: Stats | undefined = await ifPresent(lstat(path));
    if (stats === undefined) return 0;
    if (!stats.isDirectory()) return stats.size;
    let sum = 0;
    for (const name of await readdir(path)) {
      const bytes = await bytesIn(join(path, name), deadline);
      if (bytes === null) return null;
      sum += bytes;
    }
    return sum;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return null;
  }
}
