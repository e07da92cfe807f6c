// Looks at single signal files: soon after a notice, one look at a time per file and a few at once over all.
// A file that cannot be understood or is not there gets a grace before that is told, because some writers
// truncate and write, or remove and make anew. A look that failed is repeated until it succeeds.
import {
  type EventDraft,
  isEnded,
  loggedSignal,
  problemText,
  repoOfSignal,
  type SignalFile,
  signalChanges,
  signalCorrupt,
  signalRemoved,
} from '@svc/core';
import { createLimit } from '@svc/lib/limit';
import { identityNow, readSignal, type SignalReading, signalHash } from './read-signal.ts';
import type { SignalPlace } from './signal-folder.ts';

const AT_ONCE = 16;
/** A file that is written to for ever is called unreadable after so many graces. */
const MOST_GRACES = 10;

type Unsure = { since: number; last: number; identity: string | null };

type FileState = {
  place: SignalPlace;
  timer: NodeJS.Timeout | null;
  due: number;
  /** The look that waits or goes on. */
  look: Promise<void> | null;
  again: boolean;
  /** The content as it was read last. */
  content: { identity: string | null; hash: string; repo: string | undefined } | null;
  unreadable: Unsure | null;
  missingSince: number | null;
  corrupt: boolean;
};

export type SignalReads = {
  /** After the debounce; further calls until then add nothing. */
  soon: (place: SignalPlace) => void;
  now: (place: SignalPlace) => Promise<void>;
  places: () => SignalPlace[];
  figures: () => { files: number; corrupt: number };
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

  function stateOf(place: SignalPlace): FileState {
    let state = states.get(place.path);
    if (state === undefined) {
      state = {
        place,
        timer: null,
        due: 0,
        look: null,
        again: false,
        content: null,
        unreadable: null,
        missingSince: null,
        corrupt: false,
      };
      states.set(place.path, state);
    }
    return state;
  }

  function lookIn(state: FileState, delayMs: number): void {
    const due = performance.now() + delayMs;
    if (stopped || (state.timer !== null && state.due <= due)) return;
    if (state.timer !== null) clearTimeout(state.timer);
    state.due = due;
    state.timer = setTimeout(() => {
      state.timer = null;
      void lookAt(state);
    }, delayMs);
    state.timer.unref();
  }

  /** A notice during a look asks for another: the look may have read before the change. */
  function lookAt(state: FileState): Promise<void> {
    if (stopped) return Promise.resolve();
    if (state.look !== null) {
      state.again = true;
      return state.look;
    }
    state.look = limit(() => look(state))
      .catch((error: unknown) => {
        onFailure(error);
        lookIn(state, retryMs);
      })
      .finally(() => {
        state.look = null;
        if (state.again) lookIn(state, debounceMs);
        state.again = false;
      });
    return state.look;
  }

  async function look(state: FileState): Promise<void> {
    if (stopped) return;
    const { place, content } = state;
    const unchanged = content?.identity && content.identity === (await identityNow(place.path));
    if (unchanged && reporter.isReported(place, content)) return;
    const reading = await readSignal(place);
    if (reading.state === 'ok') {
      state.content = null;
      const told = await reporter.reportOk(place, reading.signal);
      Object.assign(state, { unreadable: null, missingSince: null, corrupt: false });
      state.content = { identity: reading.identity, ...told };
      onSignal(reading.signal);
    } else if (reading.state === 'missing' || reading.foreign) await notThere(state);
    else await notUnderstood(state, reading);
  }

  async function notThere(state: FileState): Promise<void> {
    const now = performance.now();
    state.missingSince ??= now;
    const left = state.missingSince + graceMs - now;
    if (left > 0) return lookIn(state, left);
    await reporter.reportRemoved(state.place);
    states.delete(state.place.path);
  }

  async function notUnderstood(
    state: FileState,
    reading: Extract<SignalReading, { state: 'corrupt' }>,
  ): Promise<void> {
    const now = performance.now();
    const identity = await identityNow(state.place.path);
    state.missingSince = null;
    state.unreadable ??= { since: now, last: now, identity };
    if (state.unreadable.identity !== identity) Object.assign(state.unreadable, { last: now, identity });
    const { since, last } = state.unreadable;
    const left = Math.min(last + graceMs, since + MOST_GRACES * graceMs) - now;
    if (left > 0) return lookIn(state, left);
    state.content = null;
    await reporter.reportCorrupt(state.place, reading);
    state.corrupt = true;
  }

  return {
    soon: (place) => lookIn(stateOf(place), debounceMs),
    now: (place) => lookAt(stateOf(place)),
    places: () => [...states.values()].map(({ place }) => place),
    figures: () => ({
      files: states.size,
      corrupt: [...states.values()].filter(({ corrupt }) => corrupt).length,
    }),
    async stop() {
      stopped = true;
      for (const { timer } of states.values()) if (timer !== null) clearTimeout(timer);
      await Promise.all([...states.values()].map(({ look: current }) => current ?? Promise.resolve()));
    },
  };
}

// Decides for one signal file whether the log has to be told something, and tells it. What the log has is asked
// of the folded state; what was told and is not folded yet is kept here, so that nothing is told twice.

/** What the log has of a worker's file; a worker of the board is one. */
export type KnownSignal = {
  hash: string | null;
  signal: SignalFile | null;
  corrupt?: { problem: string } | null;
  removed?: boolean;
  /** The last line of the worker that was folded. */
  lastSeq: number;
};

export type ReporterOptions = {
  known: (orchestrator: string, ticket: string) => KnownSignal | null;
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  now: () => Date;
};

/** The state lets go of workers that ended so long ago; their files may stay, and are not news again. */
const OLD_NEWS_MS = 30 * 86_400_000;

type Worker = Pick<SignalPlace, 'orchestrator' | 'ticket'>;
type Unreadable = Extract<SignalReading, { state: 'corrupt' }>;

export type SignalReporter = {
  /** Whether the log already has a file with this content, and nothing else is to be told of it. */
  isReported: (worker: Worker, content: { hash: string; repo: string | undefined }) => boolean;
  reportOk: (worker: Worker, signal: SignalFile) => Promise<{ hash: string; repo: string | undefined }>;
  reportCorrupt: (worker: Worker, reading: Unreadable) => Promise<void>;
  reportRemoved: (worker: Worker) => Promise<void>;
};

export function createSignalReporter({ known, append, now }: ReporterOptions): SignalReporter {
  const notFolded = new Map<string, KnownSignal>();
  /** Hashes that the log has, whether or not the state still knows the worker. */
  const hashesInLog = new Map<string, string>();

  /** What the log will have once all that was told is folded. */
  function inLog({ orchestrator, ticket }: Worker): KnownSignal | null {
    const key = keyOf({ orchestrator, ticket });
    const told = notFolded.get(key);
    const folded = known(orchestrator, ticket);
    if (told !== undefined && told.lastSeq > (folded?.lastSeq ?? 0)) return told;
    notFolded.delete(key);
    return folded;
  }

  type Told = Omit<KnownSignal, 'lastSeq'>;

  async function tell(worker: Worker, draft: EventDraft, then: Told): Promise<void> {
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
        await tell(worker, draft, {
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
      await tell(worker, draft, { hash, signal, corrupt: { problem }, removed: false });
    },

    async reportRemoved(worker) {
      const state = inLog(worker);
      if (state === null || state.removed) return;
      const { hash, signal, corrupt = null } = state;
      // A worker that never had a file has none to lose.
      if (hash === null && !corrupt) return;
      await tell(worker, signalRemoved(worker, signal), { hash, signal, corrupt, removed: true });
    },
  };
}

function keyOf({ orchestrator, ticket }: Worker): string {
  return `${orchestrator}/${ticket}`;
}
