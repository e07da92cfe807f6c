// Decides for one signal file whether the log has to be told something, and tells it. What the log has is asked
// of the folded state; what was told and is not folded yet is kept here, so that nothing is told twice.
import {
  type EventDraft,
  isEnded,
  problemText,
  repoOfSignal,
  type SignalFile,
  signalChanges,
  signalCorrupt,
  signalRemoved,
  toldSignal,
} from '@svc/core';
import { type SignalReading, signalHash } from './read-signal.ts';
import type { SignalPlace } from './signal-folder.ts';

/** What the log has of a worker's file; a worker of the board is one. */
export type KnownSignal = {
  hash: string | null;
  signal: SignalFile | null;
  corrupt?: { problem: string } | null;
  removed?: boolean;
  /** The last line of the worker that was folded. */
  lastSeq: number;
};

export type TellerOptions = {
  known: (orchestrator: string, ticket: string) => KnownSignal | null;
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  now: () => Date;
};

/** The state lets go of workers that ended so long ago; their files may stay, and are not news again. */
const OLD_NEWS_MS = 30 * 86_400_000;

type Worker = Pick<SignalPlace, 'orchestrator' | 'ticket'>;
type Unreadable = Extract<SignalReading, { state: 'corrupt' }>;

export type SignalTeller = {
  /** Whether the log already has a file with this content, and nothing else is to be told of it. */
  isTold: (worker: Worker, content: { hash: string; repo: string | undefined }) => boolean;
  tellOk: (worker: Worker, signal: SignalFile) => Promise<{ hash: string; repo: string | undefined }>;
  tellCorrupt: (worker: Worker, reading: Unreadable) => Promise<void>;
  tellRemoved: (worker: Worker) => Promise<void>;
};

export function createSignalTeller({ known, append, now }: TellerOptions): SignalTeller {
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
    isTold(worker, { hash }) {
      const state = inLog(worker);
      if (state === null) return isForgotten(worker, hash);
      return state.hash === hash && !isLost(state);
    },

    async tellOk(worker, signal) {
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
          signal: toldSignal(signal).signal,
          corrupt: null,
          removed: false,
        });
      hashesInLog.set(keyOf(worker), hash);
      return { hash, repo };
    },

    async tellCorrupt(worker, reading) {
      const state = inLog(worker);
      const problem = problemText(reading.problem);
      if (state?.corrupt?.problem === problem && !state.removed) return;
      const { hash = null, signal = null } = state ?? {};
      const draft = signalCorrupt(worker, { path: reading.path, problem }, signal);
      await tell(worker, draft, { hash, signal, corrupt: { problem }, removed: false });
    },

    async tellRemoved(worker) {
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
