// Files every line of the queue as a ticket, once, and removes the queue when all are filed.
//
// - All lines go to one destination: the tracker, or the code host if the tracker cannot take the first line. A queue
//   that was started at one destination stays there, also over several drains.
// - Before a ticket is created, the attempt is recorded on disk. Only a line with such a record and no result is
//   searched for at the destination, so the normal case needs no search.
// - At the first line that cannot be filed the drain stops; the file stays, and the next drain continues there.
// - Lines that are added meanwhile are filed too.
import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '@svc/lib/process';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { createGh, type Gh } from '../../codehost/gh.ts';
import { createIssueApi } from '../../codehost/issues.ts';
import type { Config } from '../../config.ts';
import { createCodehostDestination } from '../../tracker/io/github/filing.ts';
import { openTracker } from '../../tracker/io/open-tracker.ts';
import {
  type FiledTicket,
  type NewTicket,
  NotFiled,
  notSetUp,
  type TicketDestination,
} from '../../tracker/io/tracker.ts';
import { trackerOf } from '../../tracker/tracker-of.ts';
import {
  type Destination,
  type Finding,
  findingLabels,
  findingTicket,
  type readDrainJournal,
} from '../findings.ts';
import {
  appendLines,
  createDrainJournal,
  type DrainJournal,
  type FindingsQueue,
  journalFile,
  type QueueLine,
} from './queue.ts';

export type DrainReport = {
  /** Undefined if nothing was filed. */
  destination: TicketDestination | undefined;
  filed: number;
  /** Lines that are not filed yet. */
  left: number;
  /** Lines that cannot be parsed; they are kept in `<queue>.unreadable`. */
  unreadable: number;
  removed: boolean;
  /** Why it stopped, one per destination that was tried; empty if it did not. */
  failures: { where: string; why: string; remedy: string | undefined }[];
};

export type DrainOptions = {
  queue: FindingsQueue;
  journal: DrainJournal;
  /** In the order they are tried. */
  destinations: readonly TicketDestination[];
  baseLabels: readonly string[];
  /** Called for each ticket before it is recorded, so after a crash possibly twice. Does not throw. */
  onFiled: (finding: Finding, key: string, destination: Destination, ticket: FiledTicket) => Promise<void>;
  now: () => number;
  signal: AbortSignal;
};

type OpenLine = { key: string; finding: Finding };
type States = ReturnType<typeof readDrainJournal>;

export async function drainFindings(options: DrainOptions): Promise<DrainReport> {
  const { queue, journal, now, signal } = options;
  const report: DrainReport = {
    destination: undefined,
    filed: 0,
    left: 0,
    unreadable: 0,
    removed: false,
    failures: [],
  };

  /** Files some lines at once. Waits for all attempts; throws the first failure. */
  async function file(
    destination: TicketDestination,
    lines: readonly OpenLine[],
    states: States,
  ): Promise<void> {
    const at = new Date(now()).toISOString();
    const untried = lines.filter(({ key }) => !states.has(key));
    await journal.note(
      ...untried.map(({ key }) => ({ state: 'trying' as const, key, destination: destination.name, at })),
    );
    const endings = await Promise.allSettled(
      lines.map(async ({ key, finding }) => {
        const state = states.get(key);
        const attemptedAt = state?.state === 'trying' ? Date.parse(state.at) : undefined;
        const ticket = newTicket(finding, key, options.baseLabels);
        const filed = await fileOnce(destination, ticket, { attemptedAt, now });
        await options.onFiled(finding, key, destination.name, filed);
        await journal.note({ state: 'filed', key, destination: destination.name, ...filed });
        report.filed += 1;
        report.destination = destination;
      }),
    );
    const failed = endings.flatMap((ending, index) =>
      ending.status === 'rejected' ? [{ error: ending.reason as unknown, key: lines[index]?.key ?? '' }] : [],
    );
    const refused = failed.filter(({ error }) => error instanceof NotFiled && error.certain);
    await journal.note(...refused.map(({ key }) => ({ state: 'refused' as const, key })));
    for (const { error } of failed) throw error;
  }

  /** Finds the destination by filing the first line there. Undefined, with the reasons recorded, if all fail. */
  async function begin(
    [first]: readonly OpenLine[],
    labels: readonly string[],
    states: States,
    began: Destination | undefined,
  ): Promise<TicketDestination | undefined> {
    for (const destination of options.destinations) {
      if (began !== undefined && destination.name !== began) continue;
      try {
        await destination.prepare(labels);
        if (first !== undefined) await file(destination, [first], states);
        return destination;
      } catch (error) {
        if (!recordFailure(destination, error).certain) return undefined;
      }
    }
    return undefined;
  }

  function recordFailure({ description }: TicketDestination, error: unknown): NotFiled {
    if (!(error instanceof NotFiled)) throw error;
    report.failures.push({ where: description, why: error.message, remedy: error.remedy });
    return error;
  }

  /** Whether all given lines are filed. */
  async function fileAll(
    open: readonly OpenLine[],
    states: States,
    began: Destination | undefined,
  ): Promise<boolean> {
    const labels = [...new Set(open.flatMap(({ finding }) => labelsOf(finding, options.baseLabels)))];
    const destination = await begin(open, labels, states, began);
    if (destination === undefined) return false;
    const rest = open.slice(1);
    try {
      for (let from = 0; from < rest.length && !signal.aborted; from += destination.atOnce)
        await file(destination, rest.slice(from, from + destination.atOnce), states);
    } catch (error) {
      recordFailure(destination, error);
      return false;
    }
    return !signal.aborted;
  }

  const rescue = async (lines: readonly QueueLine[]): Promise<void> => {
    const unreadable = lines.filter(({ read }) => 'problem' in read);
    report.unreadable = unreadable.length;
    if (unreadable.length > 0)
      await appendLines(`${queue.file}.unreadable`, unreadable.map(({ text }) => `${text}\n`).join(''));
  };

  for (;;) {
    const [lines, states] = [await queue.lines(), await journal.read()];
    const isFiled = (line: QueueLine): boolean =>
      'problem' in line.read || states.get(line.key)?.state === 'filed';
    const open = lines.flatMap((line) =>
      'finding' in line.read && !isFiled(line) ? [{ key: line.key, finding: line.read.finding }] : [],
    );
    const before = report.filed;
    if (open.length > 0 && !(await fileAll(open, states, beganAt(lines, states)))) {
      report.left = open.length - (report.filed - before);
      return report;
    }
    if (open.length === 0 && (await queue.removeIfSettled(isFiled, rescue))) {
      // After the queue: a journal without a queue is harmless, a queue without its journal would be filed again.
      await journal.remove();
      report.removed = lines.length > 0;
      return report;
    }
  }
}

/** Drains a queue under its lock, and reports each ticket and the end. */
export function drainQueue(
  options: Omit<DrainOptions, 'journal' | 'onFiled'> & {
    locks: FileLocks;
    /** Does not throw. */
    report: (draft: EventDraft) => Promise<void>;
    by: Pick<EventDraft, 'source' | 'scope'>;
  },
): Promise<DrainReport> {
  const { queue, locks, report, by } = options;
  const notes = journalFile(queue.file);
  return locks.withLock(notes, async () => {
    const result = await drainFindings({
      ...options,
      journal: createDrainJournal(notes),
      onFiled: ({ title, severity, skill, tags }, key, destination, filed) =>
        report({
          event: 'feedback.finding_filed',
          ...by,
          via: 'local',
          deliveryId: `finding-filed:${key}`,
          detail: { title, severity, skill, tags, destination, ...filed },
        }),
    });
    const { filed, left: failed } = result;
    const detail = { file: queue.file, filed, failed };
    if (filed + failed > 0) await report({ event: 'feedback.drained', ...by, via: 'local', detail });
    return result;
  });
}

/** Why lines are left, for each destination that was tried. */
export function reasonsOf({ failures }: Pick<DrainReport, 'failures'>): string {
  return failures.map(({ where, why }) => `${where}: ${why.replace(/\.$/, '')}`).join('; ');
}

/** Where a line of the queue was filed, or may have been. */
function beganAt(lines: readonly QueueLine[], states: States): Destination | undefined {
  for (const { key } of lines) {
    const state = states.get(key);
    if (state !== undefined) return state.destination;
  }
  return undefined;
}

function labelsOf(finding: Finding, base: readonly string[]): string[] {
  return findingLabels(base, finding.skill);
}

function newTicket(finding: Finding, key: string, base: readonly string[]): NewTicket {
  const { severity } = finding;
  return { key, ...findingTicket(finding, key), labels: labelsOf(finding, base), severity };
}

// Files a ticket once, and where a project's findings can be filed.

/**
 * Files a ticket once. An earlier attempt may have created it, and the answer to this one may be lost: then it is
 * searched for before another attempt.
 */
export async function fileOnce(
  destination: Pick<TicketDestination, 'create' | 'find'>,
  ticket: NewTicket,
  { attemptedAt, now }: { attemptedAt: number | undefined; now: () => number },
): Promise<FiledTicket> {
  const earlier = attemptedAt === undefined ? undefined : await destination.find(ticket.key, attemptedAt);
  if (earlier !== undefined) return earlier;
  const startedAt = now();
  try {
    return await destination.create(ticket);
  } catch (error) {
    if (!(error instanceof NotFiled) || error.certain) throw error;
    return (await destination.find(ticket.key, startedAt)) ?? (await destination.create(ticket));
  }
}

// Where a project's findings can be filed: the tracker first, then the code host. Running calls are not cancelled when
// the user interrupts, because then their result would be unknown; they are short.

export function openDestinations(options: {
  config: Config;
  trackerApiUrl: string;
  environment: Environment;
  now: () => number;
}): TicketDestination[] {
  const { config, environment, now } = options;
  const gh = createGh({ environment, run: runCommand, now });
  const codehost = createCodehostDestination({
    repo: config.svc.feedback.codehostRepo,
    issues: createIssueApi(gh),
    now,
    sleep: (milliseconds) => pause(milliseconds),
  });
  return [trackerFiling(config, { apiUrl: options.trackerApiUrl, now, gh }), codehost];
}

function trackerFiling(
  config: Config,
  { apiUrl, now, gh }: { apiUrl: string; now: () => number; gh: Gh },
): TicketDestination {
  const chosen = trackerOf(config);
  if (chosen.provider === undefined) return notSetUp(chosen.why, chosen.remedy);
  return openTracker(chosen, { apiUrl, fetch, clock: { now }, gh: () => gh }).filing;
}
