// The signal files of all runs. Every change of one goes through `update`: read, changed and replaced under one
// lock, so that no two writers lose each other's words, and a reader never sees a part. What the change does not
// touch keeps its bytes. A file that cannot be understood is never written over.
import {
  canonicalJson,
  type DeployProgress,
  type Effect,
  SignalFile,
  safeSegment,
  writableOver,
} from '@svc/core';
import { setInJson, unsetInJson } from '../config/edit-json.ts';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import type { FileLocks } from '../disk/lock.ts';
import { Failure } from '../errors.ts';
import { readSignal, type SignalReading } from './read-signal.ts';
import { listRuns, listSignals, type SignalPlace, signalPath } from './signal-folder.ts';

const READERS = 16;

type ReadSignal =
  | { state: 'ok'; signal: SignalFile }
  | { state: 'missing' }
  | { state: 'corrupt'; path: string; problem: string };

type ListedSignals = {
  signals: (SignalPlace & ReadSignal)[];
  /** Names that are not looked at: they could lead elsewhere, or are no plain files. */
  ignored: number;
  /** More files than are looked at. */
  tooMany: boolean;
  /** Folders that could not be looked into. */
  problems: string[];
};

type UpdatedSignal =
  | { ok: true; changed: boolean; signal: SignalFile }
  | { ok: false; why: 'missing' }
  | { ok: false; why: 'corrupt'; path: string; problem: string };

export type SignalStore = {
  read: (orchestrator: string, ticket: string) => Promise<ReadSignal>;
  list: () => Promise<ListedSignals>;
  /** `change` returns the file as it shall be, or null to leave it; it must not keep its argument. */
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
  /** A name that could not be a file of ours has no file. */
  const placeOf = (orchestrator: string, ticket: string): SignalPlace | null =>
    safeSegment(orchestrator) && safeSegment(ticket)
      ? { orchestrator, ticket, path: signalPath(runsDir, orchestrator, ticket) }
      : null;

  return {
    async read(orchestrator, ticket) {
      const place = placeOf(orchestrator, ticket);
      return place ? plain(await readSignal(place)) : { state: 'missing' };
    },

    async list() {
      const found = await listRuns(runsDir);
      const listed = await listSignals(found.runs);
      const signals: ListedSignals['signals'] = [];
      for (let from = 0; from < listed.files.length; from += READERS) {
        const some = listed.files.slice(from, from + READERS);
        signals.push(
          ...(await Promise.all(
            some.map(async (place) => ({ ...place, ...plain(await readSignal(place)) })),
          )),
        );
      }
      return {
        signals,
        ignored: found.ignored + listed.ignored,
        tooMany: listed.tooMany,
        problems: [...found.problems, ...listed.problems],
      };
    },

    async update(orchestrator, ticket, change) {
      const place = placeOf(orchestrator, ticket);
      if (place === null) return { ok: false, why: 'missing' };
      return locks.withLock(place.path, async () => {
        const reading = await readSignal(place);
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
        mustBeSignalOf(place, signal);
        await writeFileAtomically(place.path, rewrite(text, before, signal));
        return { ok: true, changed: true, signal };
      });
    },

    async create(signal) {
      const { orchestrator, ticket } = signal;
      const place = placeOf(orchestrator, ticket);
      if (place === null)
        throw new Failure('usage', `"${orchestrator}/${ticket}" cannot be the name of a signal file.`);
      mustBeSignalOf(place, signal);
      return locks.withLock(place.path, async () => {
        if ((await readSignal(place)).state !== 'missing') return { ok: false, why: 'exists' };
        const text = `${JSON.stringify(signal, null, 2)}\n`;
        await writeFileAtomically(place.path, text, { mode: 0o600, folderMode: 0o700 });
        return { ok: true, path: place.path };
      });
    },
  };
}

function plain(reading: SignalReading): ReadSignal {
  if (reading.state === 'ok') return { state: 'ok', signal: reading.signal };
  if (reading.state === 'missing') return reading;
  return { state: 'corrupt', path: reading.path, problem: reading.problem };
}

/** What we write must be readable again; anything else is a bug of the caller. */
function mustBeSignalOf({ orchestrator, ticket }: SignalPlace, signal: SignalFile): void {
  SignalFile.parse(signal);
  if (signal.orchestrator !== orchestrator || signal.ticket !== ticket)
    throw new Error(`A change of ${orchestrator}/${ticket} must not give it another name.`);
}

/** The text with the changed values in it; every other byte stays, also numbers that JavaScript would round. */
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

// Carries out what the lifecycle wants in a worker's signal file. Doing it twice, late, or after the worker has
// written something else is harmless: a later word in the file is not taken back.

export type WriteSignalEffect = Extract<Effect, { kind: 'write-signal' }>;

export type SignalOutcome =
  | { outcome: 'written' | 'already' | 'missing' }
  /** The file stands where this write would take something back. */
  | { outcome: 'not-overwritten'; status: SignalFile['status'] }
  | { outcome: 'corrupt'; path: string; problem: string };

export async function applySignalEffect(
  store: Pick<SignalStore, 'update'>,
  effect: WriteSignalEffect,
): Promise<SignalOutcome> {
  let refusedBy: SignalFile['status'] | undefined;
  const result = await store.update(effect.orchestrator, effect.ticket, (signal) => {
    if (writableOver(signal, effect)) return withEffect(signal, effect);
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

/** Fields that the effect does not name stay, at every depth. */
function withEffect(signal: SignalFile, { status, pr, deploy }: WriteSignalEffect): SignalFile {
  return {
    ...signal,
    status,
    ...(pr && { pr: { ...signal.pr, ...defined(pr) } }),
    ...(deploy && { deploy: { ...signal.deploy, ...deployFields(deploy, signal) } }),
  };
}

/** What the file tells of a deploy; how it was proven is in the log. */
function deployFields(deploy: DeployProgress, signal: SignalFile) {
  const { environment, deploymentId, startedAt, deadline, completedAt, result, retried } = deploy;
  const before = new Map(signal.deploy?.attempts?.map((attempt) => [attempt.deploymentId, attempt]));
  const attempts = deploy.attempts.map((attempt) => ({
    ...before.get(attempt.deploymentId),
    ...defined(attempt),
  }));
  return defined({
    environment,
    deploymentId,
    attempts,
    startedAt,
    deadline,
    completedAt,
    result,
    retried,
  });
}

function defined<Known extends object>(values: Known): Known {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Known;
}
