// Publishes what this machine shares. The board is the queue: each round compares it with what the relay has, and writes
// the difference; a round that fails is repeated. Nothing is published before the own records were read back from the
// relay, because their versions must grow. The heartbeat is written while nothing else is on its way: then it names exactly
// what a reader has received before it.
import {
  formatRecordPath,
  type RecordKind,
  type RecordPath,
  type StoredRecord,
} from '@svc/contract/relay/record';
import { messageOf } from '@svc/lib/errors';
import { createLimit } from '@svc/lib/limit';
import { every } from '@svc/lib/rounds';
import type { Board } from '../../../kernel/board/board.ts';
import type { Heartbeat } from '../roster.ts';
import { type PublishedThing, publishedThings } from '../shared-things.ts';
import { makeRecord, type OpenedRecord } from './records.ts';
import { nameHash, recordsDigest } from './seal.ts';
import { newestKey, type TeamFile } from './team-file.ts';

const DEBOUNCE_MS = 100;
const RETRY_MS = 2_000;
const AT_ONCE = 8;
/** After a heartbeat, so that a reader who is behind does not get a newer record instead of one that it names. */
const QUIET_MS = 1_000;
/** A relay that cannot be reached is not asked for each record. */
const MOST_FAILURES = 8;
/** In base64 and with the rest of the record it fits into 64 KiB, and its line into a line of the log. */
const MAX_VALUE_BYTES = 40_000;

/** The text of a thing that no longer exists, that the relay does not have, and of one that cannot be read. */
const GONE = 'null';
const LOST = '';
const UNREADABLE = '?';

type Known = { version: number; epoch: number; text: string; kind: RecordKind; hash: string };
type Wanted = { kind: RecordKind; hash: string; key: string; value: unknown; text: string };

export function createPublisher(options: {
  /** Undefined while nothing can be published. */
  file: () => TeamFile | undefined;
  board: () => Board;
  /** Whether titles of tickets are part of what is shared. */
  shareTitles: () => boolean;
  put: (record: StoredRecord) => Promise<void>;
  version: string;
  now: () => number;
  tick: () => number;
  heartbeatMs: number;
  /** The versions of the newest heartbeats of the others. */
  heard: () => Heartbeat['heard'];
  /** The relay has a heartbeat of this version. */
  onBeat: (version: number) => void;
  onFailure: (error: unknown) => void;
}) {
  const { file: fileNow, board, put, now, tick, heartbeatMs } = options;
  const instance = crypto.randomUUID();
  /** What the relay has, by path. */
  const known = new Map<string, Known>();
  const hashes = new Map<string, string>();
  const limit = createLimit(AT_ONCE, Number.MAX_SAFE_INTEGER);
  let beatAt = Number.NEGATIVE_INFINITY;
  let quietUntil = 0;
  let pending = 0;
  let tooLarge = 0;
  /** Why the last round did not end. */
  let failing: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function hashOf({ roster }: TeamFile, kind: RecordKind, key: string): Promise<string> {
    const name = `${kind}\n${key}`;
    const hash = hashes.get(name) ?? (await nameHash(roster?.names ?? '', kind, key));
    hashes.set(name, hash);
    return hash;
  }

  async function wanted(file: TeamFile, things: readonly PublishedThing[]): Promise<Map<string, Wanted>> {
    const all = new Map<string, Wanted>();
    tooLarge = 0;
    for (const { kind, key, value } of things) {
      const text = JSON.stringify(value);
      if (Buffer.byteLength(text) > MAX_VALUE_BYTES) tooLarge += 1;
      else {
        const hash = await hashOf(file, kind, key);
        all.set(pathOf(file, kind, hash), { kind, hash, key, value, text });
      }
    }
    return all;
  }

  async function write(file: TeamFile, one: Omit<Wanted, 'text'>, text: string): Promise<void> {
    const { kind, hash, key, value } = one;
    const path = pathOf(file, kind, hash);
    const version = Math.max((known.get(path)?.version ?? 0) + 1, now());
    await put(await makeRecord(file, { kind, hash }, version, { key, value }));
    known.set(path, { version, epoch: newestKey(file).epoch, text, kind, hash });
  }

  async function round(): Promise<void> {
    const file = fileNow();
    if (file === undefined || stopped) return;
    const { epoch } = newestKey(file);
    const all = await wanted(file, publishedThings(board(), { titles: options.shareTitles() }));
    const changed = [...all].filter(([path, { text }]) => {
      const before = known.get(path);
      return before?.text !== text || before.epoch !== epoch;
    });
    const gone = [...known].filter(
      ([path, { text, kind }]) =>
        text !== GONE && text !== UNREADABLE && kind !== 'machine' && !all.has(path),
    );
    pending = changed.length + gone.length;
    const writes = [
      ...changed.map(
        ([, one]) =>
          () =>
            write(file, one, one.text),
      ),
      ...gone.map(
        ([path, one]) =>
          () =>
            write(file, { ...one, key: keyOf(path), value: null }, GONE),
      ),
    ];
    const failures: unknown[] = [];
    await Promise.all(
      writes.map((work) =>
        limit(async () => {
          if (failures.length >= MOST_FAILURES) return;
          await work().then(
            () => (pending -= 1),
            (error: unknown) => failures.push(error),
          );
        }),
      ),
    );
    // A round comes a little earlier than a whole interval after the last heartbeat.
    if (tick() - beatAt > 0.8 * heartbeatMs) await beat(file);
    if (failures.length > 0) throw failures[0];
    failing = null;
  }

  /** The key of the thing at an own path. */
  function keyOf(path: string): string {
    for (const [name, hash] of hashes)
      if (path.endsWith(`.${hash}`)) return name.slice(name.indexOf('\n') + 1);
    return '';
  }

  async function beat(file: TeamFile): Promise<void> {
    const hash = await hashOf(file, 'machine', 'machine');
    const value: Heartbeat = {
      version: options.version,
      at: new Date(now()).toISOString(),
      instance,
      tick: tick(),
      roster: file.rosterVersion,
      records: { ...ownRecords(), pending },
      heard: options.heard(),
    };
    await write(file, { kind: 'machine', hash, key: 'machine', value }, JSON.stringify(value));
    beatAt = tick();
    quietUntil = beatAt + Math.min(QUIET_MS, heartbeatMs / 10);
    options.onBeat(known.get(pathOf(file, 'machine', hash))?.version ?? 0);
  }

  function ownRecords(): Pick<Heartbeat['records'], 'count' | 'digest'> {
    const records = [...known].filter(
      ([, { text, kind }]) => text !== GONE && text !== LOST && kind !== 'machine',
    );
    const digest = recordsDigest(records.map(([path, { version }]) => [path, version]));
    return { count: records.length, digest };
  }

  function soon(delay: number): void {
    if (timer !== undefined || stopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      void rounds.runAfresh();
    }, delay).unref();
  }

  const rounds = every(heartbeatMs, round, (error) => {
    failing = messageOf(error);
    options.onFailure(error);
    soon(RETRY_MS);
  });

  return {
    /** A record of this machine, as the relay has it. */
    note({ machine, kind, key, version, epoch, value }: OpenedRecord, hash: string): void {
      hashes.set(`${kind}\n${key}`, hash);
      const path = formatRecordPath({ machine, kind, hash });
      if ((known.get(path)?.version ?? 0) > version) return;
      known.set(path, { version, epoch, text: JSON.stringify(value), kind, hash });
    },
    /** A record of this machine whose key is gone. */
    noteUnreadable({ machine, kind, hash }: RecordPath, version: number): void {
      const path = formatRecordPath({ machine, kind, hash });
      if ((known.get(path)?.version ?? 0) < version)
        known.set(path, { version, epoch: 0, text: UNREADABLE, kind, hash });
    },
    /** The relay has only these. */
    keepOnly(paths: ReadonlySet<string>): void {
      for (const [path, one] of known) if (!paths.has(path)) known.set(path, { ...one, text: LOST });
    },
    /** Whether the relay had the thing as `text` before a heartbeat of this machine. */
    hadBefore(version: number, key: string, isIt: (value: unknown) => boolean): boolean {
      const hash = hashes.get(`attention\n${key}`);
      const found = [...known.values()].find((one) => one.kind === 'attention' && one.hash === hash);
      return (
        found !== undefined &&
        found.version < version &&
        found.text !== LOST &&
        found.text !== UNREADABLE &&
        isIt(JSON.parse(found.text))
      );
    },
    changed: () => soon(Math.max(DEBOUNCE_MS, quietUntil - tick())),
    now: () => rounds.runAfresh(),
    figures: () => ({
      published: [...known.values()].filter(({ text }) => text !== GONE).length,
      pending,
      tooLarge,
      failing,
    }),
    /** Removes everything from the relay. The heartbeat last: without it the administrator removes the machine. */
    async withdraw(file: TeamFile): Promise<void> {
      await rounds.stop();
      stopped = true;
      const left = [...known].filter(([, { text }]) => text !== GONE && text !== UNREADABLE);
      const heartbeat = left.filter(([, { kind }]) => kind === 'machine');
      const others = left.filter(([, { kind }]) => kind !== 'machine');
      for (const some of [others, heartbeat])
        await Promise.all(
          some.map(([path, one]) =>
            limit(() => write(file, { ...one, key: keyOf(path), value: null }, GONE)),
          ),
        );
    },
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await rounds.stop();
    },
  };
}

function pathOf({ keys }: TeamFile, kind: RecordKind, hash: string): string {
  return formatRecordPath({ machine: keys.id, kind, hash });
}
