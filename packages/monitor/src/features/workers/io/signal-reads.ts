// Checks single signal files: soon after a notification, one check at a time per file and a few at once overall. A file
// that cannot be parsed or is missing gets a grace period before that is reported, because some writers truncate and write,
// or remove and create again. A failed check is repeated until it succeeds.
import { repoOfSignal, type SignalFile } from '@svc/contract/signal-file';
import { createLimit } from '@svc/lib/limit';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { loggedSignal, problemText, signalChanges, signalCorrupt, signalRemoved } from '../signal-changes.ts';
import { isEnded } from '../status-groups.ts';
import { identityNow, readSignal, type SignalReading, signalHash } from './read-signal.ts';
import type { SignalLocation } from './signal-folder.ts';

const AT_ONCE = 16;
/** A file that never stops changing is reported as unreadable after this many grace periods. */
const MOST_GRACES = 10;
const MOST_NAMED = 10;

type Unsure = { since: number; last: number; identity: string | null };

type FileState = {
  location: SignalLocation;
  timer: NodeJS.Timeout | null;
  due: number;
  /** The check that is queued or running. */
  check: Promise<void> | null;
  again: boolean;
  /** The content as last read. */
  content: { identity: string | null; hash: string; repo: string | undefined } | null;
  unreadable: Unsure | null;
  missingSince: number | null;
  corrupt: boolean;
};

export type SignalReads = {
  /** After the debounce; further calls until then add nothing. */
  soon: (location: SignalLocation) => void;
  now: (location: SignalLocation) => Promise<void>;
  locations: () => SignalLocation[];
  figures: () => { files: number; corrupt: number; corruptFiles: string[] };
  stop: () => Promise<void>;
};

export function createSignalReads({
  reporter,
  debounceMs,
  graceMs,
  retryMs,
  onSignal,
  onFailure,
}: {
  reporter: SignalReporter;
  debounceMs: number;
  graceMs: number;
  retryMs: number;
  onSignal: (signal: SignalFile) => void;
  onFailure: (error: unknown) => void;
}): SignalReads {
  const states = new Map<string, FileState>();
  const limit = createLimit(AT_ONCE);
  let stopped = false;

  function stateOf(location: SignalLocation): FileState {
    let state = states.get(location.path);
    if (state === undefined) {
      state = {
        location,
        timer: null,
        due: 0,
        check: null,
        again: false,
        content: null,
        unreadable: null,
        missingSince: null,
        corrupt: false,
      };
      states.set(location.path, state);
    }
    return state;
  }

  function checkIn(state: FileState, delayMs: number): void {
    const due = performance.now() + delayMs;
    if (stopped || (state.timer !== null && state.due <= due)) return;
    if (state.timer !== null) clearTimeout(state.timer);
    state.due = due;
    state.timer = setTimeout(() => {
      state.timer = null;
      void checkFile(state);
    }, delayMs);
    state.timer.unref();
  }

  /** A notification during a check requests another: the check may have read before the change. */
  function checkFile(state: FileState): Promise<void> {
    if (stopped) return Promise.resolve();
    if (state.check !== null) {
      state.again = true;
      return state.check;
    }
    state.check = limit(() => readAndReport(state))
      .catch((error: unknown) => {
        onFailure(error);
        checkIn(state, retryMs);
      })
      .finally(() => {
        state.check = null;
        if (state.again) checkIn(state, debounceMs);
        state.again = false;
      });
    return state.check;
  }

  async function readAndReport(state: FileState): Promise<void> {
    if (stopped) return;
    const { location, content } = state;
    const unchanged = content?.identity && content.identity === (await identityNow(location.path));
    if (unchanged && reporter.isReported(location, content)) return;
    const reading = await readSignal(location);
    if (reading.state === 'ok') {
      state.content = null;
      const logged = await reporter.reportOk(location, reading.signal);
      Object.assign(state, { unreadable: null, missingSince: null, corrupt: false });
      state.content = { identity: reading.identity, ...logged };
      onSignal(reading.signal);
    } else if (reading.state === 'missing' || reading.foreign) await handleMissing(state);
    else await handleUnreadable(state, reading);
  }

  async function handleMissing(state: FileState): Promise<void> {
    const now = performance.now();
    state.missingSince ??= now;
    const left = state.missingSince + graceMs - now;
    if (left > 0) return checkIn(state, left);
    await reporter.reportRemoved(state.location);
    states.delete(state.location.path);
  }

  async function handleUnreadable(
    state: FileState,
    reading: Extract<SignalReading, { state: 'corrupt' }>,
  ): Promise<void> {
    const now = performance.now();
    const identity = await identityNow(state.location.path);
    state.missingSince = null;
    state.unreadable ??= { since: now, last: now, identity };
    if (state.unreadable.identity !== identity) Object.assign(state.unreadable, { last: now, identity });
    const { since, last } = state.unreadable;
    const left = Math.min(last + graceMs, since + MOST_GRACES * graceMs) - now;
    if (left > 0) return checkIn(state, left);
    state.content = null;
    await reporter.reportCorrupt(state.location, reading);
    state.corrupt = true;
  }

  return {
    soon: (location) => checkIn(stateOf(location), debounceMs),
    now: (location) => checkFile(stateOf(location)),
    locations: () => [...states.values()].map(({ location }) => location),
    figures() {
      const corrupt = [...states.values()].filter((state) => state.corrupt);
      const corruptFiles = corrupt.slice(0, MOST_NAMED).map(({ location }) => location.path);
      return { files: states.size, corrupt: corrupt.length, corruptFiles };
    },
    async stop() {
      stopped = true;
      for (const { timer } of states.values()) if (timer !== null) clearTimeout(timer);
      await Promise.all([...states.values()].map(({ check: current }) => current ?? Promise.resolve()));
    },
  };
}

// Decides for one signal file whether something has to be logged, and logs it. The folded state knows what the log has;
// what was logged and is not folded yet is kept here, so nothing is logged twice.

/** What the log has of a worker's file; a worker of the board has this shape. */
export type KnownSignal = {
  hash: string | null;
  signal: SignalFile | null;
  corrupt?: { problem: string } | null;
  removed?: boolean;
  /** The last folded line of the worker. */
  lastSeq: number;
};

export type ReporterOptions = {
  known: (orchestrator: string, ticket: string) => KnownSignal | null;
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  now: () => Date;
};

/** The state forgets workers that ended this long ago; their files may stay, and are not reported again. */
const OLD_NEWS_MS = 30 * 86_400_000;

type Worker = Pick<SignalLocation, 'orchestrator' | 'ticket'>;
type Unreadable = Extract<SignalReading, { state: 'corrupt' }>;

export type SignalReporter = {
  /** Whether the log has a file with this content, and nothing else is to be reported about it. */
  isReported: (worker: Worker, content: { hash: string; repo: string | undefined }) => boolean;
  reportOk: (worker: Worker, signal: SignalFile) => Promise<{ hash: string; repo: string | undefined }>;
  reportCorrupt: (worker: Worker, reading: Unreadable) => Promise<void>;
  reportRemoved: (worker: Worker) => Promise<void>;
};

export function createSignalReporter({ known, append, now }: ReporterOptions): SignalReporter {
  const notFolded = new Map<string, KnownSignal>();
  /** Hashes that the log has, whether or not the state still knows the worker. */
  const hashesInLog = new Map<string, string>();

  /** What the state will be once everything that was logged is folded. */
  function inLog({ orchestrator, ticket }: Worker): KnownSignal | null {
    const key = keyOf({ orchestrator, ticket });
    const logged = notFolded.get(key);
    const folded = known(orchestrator, ticket);
    if (logged !== undefined && logged.lastSeq > (folded?.lastSeq ?? 0)) return logged;
    notFolded.delete(key);
    return folded;
  }

  type Logged = Omit<KnownSignal, 'lastSeq'>;

  async function log(worker: Worker, draft: EventDraft, then: Logged): Promise<void> {
    const { seq } = await append(draft);
    notFolded.set(keyOf(worker), { ...then, lastSeq: seq });
  }

  function isForgotten(worker: Worker, hash: string, signal?: SignalFile): boolean {
    if (hashesInLog.get(keyOf(worker)) === hash) return true;
    if (signal === undefined || !isEnded(signal.status)) return false;
    return now().getTime() - Date.parse(signal.updatedAt) > OLD_NEWS_MS;
  }

  const isLost = (state: KnownSignal): boolean => Boolean(state.corrupt) || state.removed === true;

  return {
    isReported(worker, { hash }) {
      const state = inLog(worker);
      if (state === null) return isForgotten(worker, hash);
      return state.hash === hash && !isLost(state);
    },

    async reportOk(worker, signal) {
      const hash = signalHash(signal);
      const repo = repoOfSignal(signal);
      const state = inLog(worker);
      const drafts =
        state === null && isForgotten(worker, hash, signal)
          ? []
          : signalChanges(state?.signal ?? null, signal, {
              hash,
              returned: state !== null && isLost(state),
            });
      for (const draft of drafts)
        await log(worker, draft, {
          hash,
          signal: loggedSignal(signal).signal,
          corrupt: null,
          removed: false,
        });
      hashesInLog.set(keyOf(worker), hash);
      return { hash, repo };
    },

    async reportCorrupt(worker, reading) {
      const state = inLog(worker);
      const problem = problemText(reading.problem);
      if (state?.corrupt?.problem === problem && !state.removed) return;
      const { hash = null, signal = null } = state ?? {};
      const draft = signalCorrupt(worker, { path: reading.path, problem }, signal);
      await log(worker, draft, { hash, signal, corrupt: { problem }, removed: false });
    },

    async reportRemoved(worker) {
      const state = inLog(worker);
      if (state === null || state.removed) return;
      const { hash, signal, corrupt = null } = state;
      // A worker that never had a file cannot lose it.
      if (hash === null && !corrupt) return;
      await log(worker, signalRemoved(worker, signal), { hash, signal, corrupt, removed: true });
    },
  };
}

function keyOf({ orchestrator, ticket }: Worker): string {
  return `${orchestrator}/${ticket}`;
}
