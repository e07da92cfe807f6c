// The signal files of all runs. Every change goes through `update`: read, changed and replaced under one lock, so two
// writers never overwrite each other's changes, and a reader never sees a partial file. Bytes that the change does not
// touch stay. A file that cannot be parsed is never overwritten.
import { SignalFile, safeSegment } from '@svc/contract/signal-file';
import { canonicalJson } from '@svc/lib/canonical-json';
import { setInJson, unsetInJson } from '../../../kernel/config/edit-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import { withWrite, writableOver } from '../signal-write.ts';
import { readSignal, type SignalReading } from './read-signal.ts';
import { listRuns, listSignals, type SignalLocation, signalPath } from './signal-folder.ts';

const READERS = 16;

type ReadSignal =
  | { state: 'ok'; signal: SignalFile }
  | { state: 'missing' }
  | { state: 'corrupt'; path: string; problem: string };

type ListedSignals = {
  signals: (SignalLocation & ReadSignal)[];
  /** Names that are not read: unsafe names, or not regular files. */
  ignored: number;
  /** More files than are read. */
  tooMany: boolean;
  /** Folders that could not be read. */
  problems: string[];
};

type UpdatedSignal =
  | { ok: true; changed: boolean; signal: SignalFile }
  | { ok: false; why: 'missing' }
  | { ok: false; why: 'corrupt'; path: string; problem: string };

export type SignalStore = {
  read: (orchestrator: string, ticket: string) => Promise<ReadSignal>;
  list: () => Promise<ListedSignals>;
  /** `change` returns the new content, or null to leave the file; it must not keep its argument. */
  update: (
    orchestrator: string,
    ticket: string,
    change: (signal: SignalFile) => SignalFile | null,
  ) => Promise<UpdatedSignal>;
  create: (signal: SignalFile) => Promise<{ ok: true; path: string } | { ok: false; why: 'exists' }>;
};

export function createSignalStore({
  runsDir,
  locks,
  now,
}: {
  runsDir: string;
  locks: FileLocks;
  now: () => Date;
}): SignalStore {
  /** An unsafe name has no file. */
  const locationOf = (orchestrator: string, ticket: string): SignalLocation | null =>
    safeSegment(orchestrator) && safeSegment(ticket)
      ? { orchestrator, ticket, path: signalPath(runsDir, orchestrator, ticket) }
      : null;

  return {
    async read(orchestrator, ticket) {
      const location = locationOf(orchestrator, ticket);
      return location ? plain(await readSignal(location)) : { state: 'missing' };
    },

    async list() {
      const found = await listRuns(runsDir);
      const listed = await listSignals(found.runs);
      const signals: ListedSignals['signals'] = [];
      for (let from = 0; from < listed.files.length; from += READERS) {
        const some = listed.files.slice(from, from + READERS);
        signals.push(
          ...(await Promise.all(
            some.map(async (location) => ({ ...location, ...plain(await readSignal(location)) })),
          )),
        );
      }
      return {
        signals,
        ignored: found.ignored.length + listed.ignored.length,
        tooMany: listed.tooMany.length > 0,
        problems: [...found.problems, ...listed.problems],
      };
    },

    async update(orchestrator, ticket, change) {
      const location = locationOf(orchestrator, ticket);
      if (location === null) return { ok: false, why: 'missing' };
      return locks.withLock(location.path, async () => {
        const reading = await readSignal(location);
        if (reading.state === 'missing') return { ok: false, why: 'missing' };
        if (reading.state === 'corrupt') {
          const { path, problem } = reading;
          return { ok: false, why: 'corrupt', path, problem };
        }
        const { signal: before, text } = reading;
        const after = change(structuredClone(before));
        if (after === null || canonicalJson(after) === canonicalJson(before))
          return { ok: true, changed: false, signal: before };
        const signal = { ...after, updatedAt: now().toISOString() };
        mustBeSignalOf(location, signal);
        await writeFileAtomically(location.path, rewrite(text, before, signal));
        return { ok: true, changed: true, signal };
      });
    },

    async create(signal) {
      const { orchestrator, ticket } = signal;
      const location = locationOf(orchestrator, ticket);
      if (location === null)
        throw new Failure('usage', `"${orchestrator}/${ticket}" is not a valid signal file name.`);
      mustBeSignalOf(location, signal);
      return locks.withLock(location.path, async () => {
        if ((await readSignal(location)).state !== 'missing') return { ok: false, why: 'exists' };
        const text = `${JSON.stringify(signal, null, 2)}\n`;
        await writeFileAtomically(location.path, text, { mode: 0o600, folderMode: 0o700 });
        return { ok: true, path: location.path };
      });
    },
  };
}

function plain(reading: SignalReading): ReadSignal {
  if (reading.state === 'ok') return { state: 'ok', signal: reading.signal };
  if (reading.state === 'missing') return reading;
  return { state: 'corrupt', path: reading.path, problem: reading.problem };
}

/** What we write must be readable again; anything else is a bug in the caller. */
function mustBeSignalOf({ orchestrator, ticket }: SignalLocation, signal: SignalFile): void {
  SignalFile.parse(signal);
  if (signal.orchestrator !== orchestrator || signal.ticket !== ticket)
    throw new Error(`A change of ${orchestrator}/${ticket} must not rename it.`);
}

/** The text with the changed values; every other byte stays, including numbers that JavaScript would round. */
function rewrite(text: string, before: Values, after: Values, path: readonly string[] = []): string {
  let result = text;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const here = [...path, name];
    const [old, value] = [own(before, name), own(after, name)];
    if (value === undefined) result = old === undefined ? result : unsetInJson(result, here);
    else if (isObject(old) && isObject(value)) result = rewrite(result, old, value, here);
    else if (old === undefined || canonicalJson(old) !== canonicalJson(value))
      result = setInJson(result, here, value);
  }
  return result;
}

type Values = Record<string, unknown>;

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(values: Values, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

// Applies a lifecycle effect to a worker's signal file. Doing it twice, late, or after the worker has written something
// else is harmless: a later update in the file is not reverted.

export type WriteSignalEffect = Extract<Effect, { kind: 'write-signal' }>;

export type SignalOutcome =
  | { outcome: 'written' | 'already' | 'missing' }
  /** The write would revert something in the file. */
  | { outcome: 'not-overwritten'; status: SignalFile['status'] }
  | { outcome: 'corrupt'; path: string; problem: string };

export async function applySignalEffect(
  store: Pick<SignalStore, 'update'>,
  effect: WriteSignalEffect,
): Promise<SignalOutcome> {
  let refusedBy: SignalFile['status'] | undefined;
  const result = await store.update(effect.orchestrator, effect.ticket, (signal) => {
    if (writableOver(signal, effect)) return withWrite(signal, effect);
    refusedBy = signal.status;
    return null;
  });
  if (!result.ok) {
    if (result.why === 'missing') return { outcome: 'missing' };
    return { outcome: 'corrupt', path: result.path, problem: result.problem };
  }
  if (refusedBy !== undefined) return { outcome: 'not-overwritten', status: refusedBy };
  return { outcome: result.changed ? 'written' : 'already' };
}
