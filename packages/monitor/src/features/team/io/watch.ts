// Whether the relay shows this machine what the others have published, and in time. Every machine signs in its heartbeat
// which records it has, which list of members it uses, and whom it has heard. What does not agree at one heartbeat may be on
// its way; what does not agree at the next one is a finding.
//
// Clocks differ and are set. A heartbeat has the time by the clock and by the process, and is late only if it is late by
// both: a clock that was set, and a machine that slept, change one of them.
import type { RecordPath } from '@svc/contract/relay/record';
import { HEARTBEAT_MS, type Heartbeat, SILENT_MS } from '../roster.ts';
import { recordsDigest } from './seal.ts';
import { newestKey, type TeamFile } from './team-file.ts';

export type FindingKind = keyof typeof findingTexts;
/** `machine` is an id; `since` by the own clock. */
export type Finding = { kind: FindingKind; machine: string; since: number };

const ASK_RELAY =
  'Someone may be holding records back at the relay. Ask who runs it; if it stays so, create the team at another relay: svc team create';

/** What was noticed of a machine, named by `%`, and what to do. */
export const findingTexts = {
  differs: {
    text: 'the relay does not show everything that % has published, or shows something older',
    fix: ASK_RELAY,
  },
  unsent: {
    text: '% has changes that the relay has not taken',
    fix: 'See why on that machine: svc team status',
  },
  late: { text: 'what % publishes arrives late', fix: ASK_RELAY },
  unheard: { text: '% is heard by another machine of the team, but not by this one', fix: ASK_RELAY },
  behind: {
    text: '% still uses an earlier list of members, so a machine that was removed may read what it publishes',
    fix: 'On that machine: svc monitor restart. If it stays so, someone at the relay may be holding the list back',
  },
  ahead: {
    text: '% has a newer list of members than this machine',
    fix: 'Run: svc monitor restart. If it stays so, someone at the relay may be holding the list back',
  },
  'old-key': {
    text: '% still encrypts with a key that was replaced, so a machine that was removed may read it',
    fix: 'On that machine: svc monitor restart. If it stays so, someone at the relay may be holding the list of members back',
  },
  frozen: {
    text: 'the relay takes what this machine publishes, but shows nothing of it',
    fix: 'The connection is opened again. If it stays so, check the network, and ask who runs the relay',
  },
} as const;

/** How often in a heartbeat it is looked whether this process has read everything. */
export const TURNS = 16;
/** After the second heartbeat that is not shown. */
const LAST_TURNS = 3;

type Strike = { at: number; tick: number; isFinding: boolean };
type Clock = { wallMs: number; tickMs: number; instance: string };

type Watched = {
  /** The newest version of each path, and whether the thing no longer exists. */
  records: Map<string, { version: number; isGone: boolean }>;
  /** The version of its newest heartbeat, and what that says of its records. */
  beat: number;
  named: Heartbeat['records'] | undefined;
  heardAt: number | undefined;
  /**
   * It has heard this machine since this start. What it sent before may be sent again by the relay: then only its own clock
   * says how old that is.
   */
  isFresh: boolean;
  /** The smallest delay that was seen, by the clock and by the process. */
  clock: Clock | undefined;
  /** The highest epoch of the team key that it was heard with. */
  epoch: number;
  strikes: Map<FindingKind, Strike>;
  /** What must be reached: by the version of its roster, by that of this machine's, by its own heartbeat. */
  due: { behind: number; ahead: number; unheard: number };
};

type Own = { id: string; rosterVersion: number; epoch: number; epochSince: number };

/** What the heartbeats of the others are compared with. */
export function ownPart(file: TeamFile): Own {
  const { epoch, since } = newestKey(file);
  return { id: file.keys.id, rosterVersion: file.rosterVersion, epoch, epochSince: since };
}

export function createWatch(options: {
  heartbeatMs: number;
  now: () => number;
  /** Milliseconds that only grow. */
  tick: () => number;
  /** The relay has not shown something that exists. */
  onMissing: () => void;
}) {
  const { heartbeatMs, now, tick } = options;
  const machines = new Map<string, Watched>();
  /** When the newest epoch became known, by the process. */
  let epochKnown = { epoch: 0, tick: Number.NEGATIVE_INFINITY };
  /** The first own heartbeat that the relay has taken and not shown; how many since; turns of this process since the newest. */
  let unseen: { id: string; version: number; beats: number; turns: number } | undefined;
  /** The version of the first own heartbeat since this start. */
  let firstSent = Number.POSITIVE_INFINITY;

  function watched(id: string): Watched {
    const known = machines.get(id) ?? {
      records: new Map(),
      beat: 0,
      named: undefined,
      heardAt: undefined,
      isFresh: false,
      clock: undefined,
      epoch: 0,
      strikes: new Map(),
      due: { behind: 0, ahead: 0, unheard: 0 },
    };
    machines.set(id, known);
    return known;
  }

  /** The second in a row counts, if it comes half a heartbeat after the first. */
  function judge({ strikes }: Watched, kind: FindingKind, isBad: boolean): void {
    const first = strikes.get(kind);
    if (!isBad) strikes.delete(kind);
    else if (first === undefined) strikes.set(kind, { at: now(), tick: tick(), isFinding: false });
    else if (tick() - first.tick >= heartbeatMs / 2) first.isFinding = true;
  }

  /** What must be reached by the next heartbeat is what was wanted at this one. */
  function judgeReached(one: Watched, kind: keyof Watched['due'], value: number, wanted: number): void {
    if (one.strikes.has(kind) && value < one.due[kind]) return judge(one, kind, true);
    judge(one, kind, false);
    one.due[kind] = wanted;
    if (value < wanted) judge(one, kind, true);
  }

  /** How late it is. Only a heartbeat of the same process as the one before can be compared by both clocks. */
  function lateness(one: Watched, beat: Heartbeat): { lateMs: number; isComparable: boolean } {
    const { clock } = one;
    const wallMs = now() - Date.parse(beat.at);
    const tickMs = tick() - beat.tick;
    if (clock?.instance !== beat.instance) {
      one.clock = { instance: beat.instance, tickMs, wallMs: clock?.wallMs ?? wallMs };
      return { lateMs: Math.max(0, wallMs - (clock?.wallMs ?? 0)), isComparable: false };
    }
    const byWall = wallMs - clock.wallMs;
    const byTick = tickMs - clock.tickMs;
    const lateMs = Math.max(0, Math.min(byWall, byTick));
    if (lateMs < heartbeatMs)
      one.clock = {
        instance: beat.instance,
        // What is late by one of them only was set, or has slept.
        wallMs: byWall >= heartbeatMs ? wallMs : Math.min(clock.wallMs, wallMs),
        tickMs: byTick >= heartbeatMs ? tickMs : Math.min(clock.tickMs, tickMs),
      };
    return { lateMs, isComparable: true };
  }

  const shownOf = ({ records }: Watched): [path: string, version: number][] =>
    [...records].flatMap(([path, { version, isGone }]) => (isGone ? [] : [[path, version]]));

  /** Whether the relay shows exactly what its newest heartbeat names. */
  function agrees(one: Watched): boolean {
    const shown = shownOf(one);
    return one.named?.count === shown.length && one.named.digest === recordsDigest(shown);
  }

  /** Learns from a heartbeat that the relay has kept: whatever its age, the smallest delay is not larger. */
  function learnClock(one: Watched, { at, tick: sentTick, instance }: Heartbeat): void {
    const [wallMs, tickMs] = [now() - Date.parse(at), tick() - sentTick];
    const { clock } = one;
    const isSameProcess = clock?.instance === instance;
    one.clock = {
      instance,
      wallMs: Math.min(clock?.wallMs ?? wallMs, wallMs),
      tickMs: isSameProcess ? Math.min(clock.tickMs, tickMs) : tickMs,
    };
  }

  function judgeRecords(one: Watched, { records: { pending } }: Heartbeat): void {
    judge(one, 'unsent', pending > 0);
    judge(one, 'differs', pending === 0 && !agrees(one));
    if (one.strikes.has('differs')) options.onMissing();
  }

  /**
   * Some need no second heartbeat: a stream is in order, so what another machine had heard before its heartbeat was to come
   * before it.
   */
  function confirmedAfter(kind: FindingKind): number {
    if (kind === 'unheard') return heartbeatMs / 4;
    return kind === 'old-key' ? heartbeatMs : Number.POSITIVE_INFINITY;
  }

  return {
    /** A record that its machine has signed. */
    sawRecord({ machine, kind }: RecordPath, path: string, version: number, isGone: boolean): void {
      if (kind === 'machine' || kind === 'join' || kind === 'roster') return;
      const { records } = watched(machine);
      if ((records.get(path)?.version ?? 0) <= version) records.set(path, { version, isGone });
    },
    /** With which key a record was encrypted. */
    sawKey(id: string, record: { epoch: number; version: number }, isLive: boolean, own: Own): void {
      if (own.epoch !== epochKnown.epoch)
        epochKnown = { epoch: own.epoch, tick: epochKnown.epoch === 0 ? epochKnown.tick : tick() };
      const one = watched(id);
      if (isLive) one.epoch = Math.max(one.epoch, record.epoch);
      if (one.epoch >= own.epoch) return void one.strikes.delete('old-key');
      if (record.epoch >= own.epoch) return;
      const grace = 2 * heartbeatMs;
      const isLiveLate = isLive && tick() - epochKnown.tick > grace;
      const isLater = one.clock !== undefined && record.version + one.clock.wallMs > own.epochSince + grace;
      if (isLiveLate || isLater) judge(one, 'old-key', true);
    },
    /** The relay has only these. */
    keepOnly(paths: ReadonlySet<string>): void {
      for (const { records } of machines.values())
        for (const path of records.keys()) if (!paths.has(path)) records.delete(path);
    },
    /** The paths of a machine, if they are all that its newest heartbeat names; then nothing else of it exists. */
    confirmedPaths(id: string): ReadonlySet<string> | undefined {
      const one = machines.get(id);
      return one !== undefined && agrees(one) ? new Set(shownOf(one).map(([path]) => path)) : undefined;
    },
    /** Machines that are no longer members are forgotten. */
    keepMachines(ids: ReadonlySet<string>): void {
      for (const id of machines.keys()) if (!ids.has(id)) machines.delete(id);
      for (const id of ids) watched(id);
    },
    heard(id: string, version: number, beat: Heartbeat, isLive: boolean, own: Own): void {
      const one = watched(id);
      if (version > one.beat) one.named = beat.records;
      one.beat = Math.max(one.beat, version);
      if (one.beat >= one.due.unheard) one.strikes.delete('unheard');
      if (!isLive) {
        const at = Date.parse(beat.at) + (one.clock?.wallMs ?? 0);
        one.heardAt = Math.max(one.heardAt ?? 0, Math.min(now(), at));
        return learnClock(one, beat);
      }
      one.isFresh ||= (beat.heard[own.id] ?? 0) >= firstSent;
      const { lateMs, isComparable } = lateness(one, beat);
      const ageMs = one.isFresh ? lateMs : Math.max(lateMs, now() - Date.parse(beat.at));
      one.heardAt = Math.max(one.heardAt ?? 0, now() - ageMs);
      if (isComparable) judge(one, 'late', lateMs >= heartbeatMs);
      judgeRecords(one, beat);
      judgeReached(one, 'behind', beat.roster, own.rosterVersion);
      judgeReached(one, 'ahead', own.rosterVersion, beat.roster);
      if (one.strikes.has('ahead')) options.onMissing();
      for (const [other, newest] of Object.entries(beat.heard)) {
        const known = other === own.id ? undefined : machines.get(other);
        if (known !== undefined) judgeReached(known, 'unheard', known.beat, newest);
      }
    },
    /** The relay has taken the own heartbeat. */
    sentBeat(id: string, version: number): void {
      unseen = { id, version: unseen?.version ?? version, beats: (unseen?.beats ?? 0) + 1, turns: 0 };
      firstSent = Math.min(firstSent, version);
    },
    /** The relay shows it. */
    sawOwnBeat(id: string, version: number): void {
      if (unseen !== undefined && version < unseen.version) return;
      unseen = undefined;
      watched(id).strikes.delete('frozen');
    },
    /** A stream that is opened now shows it too; but it has to be read. */
    opened(): void {
      if (unseen !== undefined) unseen.turns = 0;
    },
    /**
     * This process had its turn, `TURNS` times a heartbeat, and nothing was left to be read. Only that counts, and not the
     * time: a machine that waits for a processor has not read what is there.
     */
    turn(): void {
      if (unseen === undefined) return;
      unseen.turns += 1;
      if (unseen.turns === TURNS / 2) options.onMissing();
      if (unseen.beats < 2 || unseen.turns < LAST_TURNS) return;
      const { strikes } = watched(unseen.id);
      if (!strikes.has('frozen')) strikes.set('frozen', { at: now(), tick: tick(), isFinding: true });
    },
    /** The versions of the newest heartbeats of the others. */
    beats: (own: string): Record<string, number> =>
      Object.fromEntries(
        [...machines].filter(([id, { beat }]) => id !== own && beat > 0).map(([id, { beat }]) => [id, beat]),
      ),
    heardAt(id: string): number | undefined {
      const one = machines.get(id);
      if (one?.heardAt === undefined) return undefined;
      // The clock was set back.
      one.heardAt = Math.min(one.heardAt, now());
      return one.heardAt;
    },
    findings(): Finding[] {
      return [...machines].flatMap(([machine, { strikes }]) =>
        [...strikes]
          .filter(([kind, { isFinding, tick: from }]) => isFinding || tick() - from >= confirmedAfter(kind))
          .map(([kind, { at }]) => ({ kind, machine, since: at })),
      );
    },
    silentMs: (SILENT_MS / HEARTBEAT_MS) * heartbeatMs,
    clear(): void {
      machines.clear();
      unseen = undefined;
      firstSent = Number.POSITIVE_INFINITY;
      epochKnown = { epoch: 0, tick: Number.NEGATIVE_INFINITY };
    },
  };
}
