// Keeps this machine and its team in step: the stream of records, what is published, and the roster. Its modes:
//   none         no team file. `create` or `join` leads on.
//   joining      a join was sent; the stream shows only the roster. Live when the roster has this machine.
//   connecting   the stream is being opened; nothing is published.
//   live         everything that the relay had was received; changes are published and received.
//   unreachable  the connection is lost, since when is shown. It is opened again; this machine keeps working alone.
//   removed      the roster no longer has this machine. `leave` removes its keys.
//
// Frames of the stream are handled one after the other. Until `ready` they are collected, because the roster may come
// last: it is applied first, then the records, then what the relay no longer has is removed. A position is used only
// when everything before it is durable.
import { parseRecordPath, StoredRecord } from '@svc/contract/relay/record';
import { positionInReady } from '@svc/contract/relay/relay-headers';
import { createLimit } from '@svc/lib/limit';
import type { Logger } from 'pino';
import type { StateFollower } from '../../../kernel/board/state-follower.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { StreamFrame } from '../../feeds/io/delivery-service.ts';
import type { TeamStatus } from '../api.ts';
import { createBudget } from '../budget.ts';
import { receivedHandOvers } from '../hand-overs.ts';
import { HEARTBEAT_MS, Heartbeat } from '../roster.ts';
import { createAdministrator } from './administrator.ts';
import { commandLines } from './commands.ts';
import { createPublisher } from './publisher.ts';
import {
  isKnownKind,
  isRoster,
  missingLines,
  type OpenedRecord,
  openJoin,
  openRecord,
  openRoster,
  parseStored,
  sharedLines,
  streamKeys,
} from './records.ts';
import { createRefusals } from './refusals.ts';
import { followRecords, isRefusedAs, type Lost, putRecord, type RecordStream } from './relay-link.ts';
import { rosterLines } from './roster-changes.ts';
import { newestKey, removeTeamFile, type TeamFile, writeTeamFile } from './team-file.ts';
import { createWatch, ownPart, TURNS } from './watch.ts';

const FAILED_PAUSE_MS = 5_000;
const REJOIN_REMEDY =
  'Ask for a new invitation (svc team invite), then: svc team leave, svc team join <invitation>';
/** Everything is read again at most once in so many heartbeats because something of it is missing. */
const REREAD_BEATS = 4;
const OPENED_AT_ONCE = 16;
/** Their lines share a commit. */
const OPENED_TOGETHER = 500;

type Mode = { state: TeamStatus['state']; since: number; why: string | null; remedy: string | null };

export type TeamOptions = {
  configDir: string;
  state: StateFollower;
  /** A line with a delivery id is written once. */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  /** Whether the person shares titles of tickets; false while that is not known. */
  shareTitles: () => boolean;
  version: string;
  logger: Logger;
  now: () => number;
  /** Milliseconds that only grow. */
  tick?: () => number;
  /** How often a machine is heard; the members of a team have the same. */
  heartbeatMs?: number | undefined;
  /** What becomes lines of another machine in an hour. */
  mostOfMachine?: { lines: number; bytes: number };
};

export function createSync(options: TeamOptions & { onChange: () => void }) {
  const { configDir, state, append, logger, now } = options;
  const { tick = () => performance.now(), heartbeatMs = HEARTBEAT_MS } = options;
  const oneAtATime = createLimit(1, 100);
  const refusals = createRefusals({ logger, now });
  /** Versions of records that were received. */
  const versions = new Map<string, number>();
  const watch = createWatch({ heartbeatMs, now, tick, onMissing: readAgain });
  const budget = createBudget<EventDraft>({ now, most: options.mostOfMachine });
  /** Machines of which a complete stream may have left something out. */
  const unconfirmed = new Set<string>();
  let readAgainAt = Number.NEGATIVE_INFINITY;
  let file: TeamFile | undefined;
  let mode: Mode = { state: 'connecting', since: now(), why: null, remedy: null };
  let stream: RecordStream | undefined;
  let keysTried = 0;
  let position: string | null = null;
  /** The highest version of the roster that the relay has sent. */
  let rosterSeen = 0;
  let collected: StoredRecord[] | undefined = [];
  let opening: NodeJS.Timeout | undefined;
  let publisher = newPublisher();
  let stopped = false;
  /** Frames that were read, and are not handled yet. */
  let underWay = 0;
  const turns = setInterval(() => (underWay === 0 ? watch.turn() : undefined), heartbeatMs / TURNS).unref();

  function newPublisher() {
    return createPublisher({
      file: () => (mode.state === 'live' ? file : undefined),
      board: state.board,
      shareTitles: options.shareTitles,
      put: (record) => putRecord(file?.channelUrl ?? '', record),
      version: options.version,
      now,
      tick,
      heartbeatMs,
      heard: () => watch.beats(file?.keys.id ?? ''),
      onBeat: (version) => watch.sentBeat(file?.keys.id ?? '', version),
      onFailure(error) {
        logger.warn({ err: error }, 'records of the team could not be published');
        if (isRefusedAs(error, 'not-a-member')) admin.republishLost();
      },
    });
  }

  function enter(next: TeamStatus['state'], why: string | null = null, remedy: string | null = null): void {
    mode = { state: next, since: mode.state === next ? mode.since : now(), why, remedy };
    options.onChange();
  }

  // The stream.

  /** `isWhole`: from the beginning, whatever a frame that is being handled has reached. */
  async function open(isWhole = false): Promise<void> {
    const own = file;
    clearTimeout(opening);
    if (own === undefined || stopped) return;
    const keys = await streamKeys(own);
    // It was stopped, or the team was left, meanwhile.
    if (stopped || file?.channelUrl !== own.channelUrl) return;
    if (own.roster === null) keysTried = Math.max(1, keysTried);
    const key = keys[Math.min(keysTried, keys.length - 1)] ?? '';
    const before = stream;
    collected = [];
    if (isWhole) position = null;
    watch.opened();
    const opened: RecordStream = followRecords({
      channelUrl: own.channelUrl,
      key,
      position: () => {
        collected = [];
        return position;
      },
      onFrame: (frame, isLatest) => take(frame, () => stream === opened && isLatest()),
      onLost: (lost) => (stream === opened ? lostStream(lost, keys.length) : undefined),
    });
    stream = opened;
    void before?.stop();
  }

  /** Once, however often it is asked for. */
  function openLater(): void {
    clearTimeout(opening);
    opening = setTimeout(() => void open(), FAILED_PAUSE_MS).unref();
  }

  function lostStream({ why, remedy, isRefused }: Lost, keys: number): void {
    if (mode.state === 'removed') return;
    if (isRefused) admin.republishLost();
    if (isRefused && keysTried < keys - 1) {
      keysTried += 1;
      void open();
      return;
    }
    const isJoining = file?.roster === null;
    const refusal = isJoining
      ? 'the relay does not accept the invitation: it was used, or has expired'
      : 'the relay does not accept the keys of this machine: it was probably removed from the team';
    const fix = isRefused ? REJOIN_REMEDY : (remedy ?? 'Check the network and the relay');
    enter(isJoining ? 'joining' : 'unreachable', isRefused ? refusal : why, fix);
  }

  /** A roster with another key opens another stream, which brings everything again; so does another connection. */
  async function take({ event, id, data }: StreamFrame, isCurrent: () => boolean): Promise<void> {
    if (!isCurrent()) return;
    underWay += 1;
    try {
      if (event === 'record') {
        const record = StoredRecord.parse(JSON.parse(data));
        if (collected !== undefined) collected.push(record);
        else {
          await receive([record], true);
          if (isCurrent()) position = id ?? position;
        }
      } else if (event === 'ready') {
        const records = collected ?? [];
        const { complete } = JSON.parse(data) as { complete?: unknown };
        await receive(records, false);
        if (!isCurrent()) return;
        if (complete === true && keysTried === 0)
          await removeMissing(new Set(records.map(({ path }) => path)));
        if (!isCurrent()) return;
        collected = undefined;
        position = positionInReady(data);
        await ready();
      }
    } catch (error) {
      logger.error({ err: error }, 'a record of the team could not be taken');
      enter('unreachable', 'what the relay sent could not be stored', 'See: svc monitor logs');
      // Everything comes again, and what is not in the log must not count as known. What this stream still brings is
      // only collected: otherwise it would move the position past what could not be stored.
      collected = [];
      position = null;
      versions.clear();
      openLater();
    } finally {
      underWay -= 1;
    }
  }

  /** What is missing may have been lost on the way. */
  function readAgain(): void {
    if (tick() - readAgainAt < REREAD_BEATS * heartbeatMs) return;
    readAgainAt = tick();
    void open(true);
  }

  async function ready(): Promise<void> {
    if (file === undefined || file.roster === null || mode.state === 'removed') return;
    if (keysTried > 0) {
      // Only the roster can be read with such a key, and it has brought nothing new.
      keysTried = 0;
      openLater();
      return;
    }
    enter('live');
    await publisher.now();
  }

  // What was received.

  async function receive(records: readonly StoredRecord[], isLive: boolean): Promise<void> {
    for (const record of records.filter(isRoster)) await receiveRoster(record);
    const others = records.filter((record) => !isRoster(record));
    // Signatures are checked by other threads; meanwhile the lines of the records before are appended.
    const limit = createLimit(OPENED_AT_ONCE);
    let lines: EventDraft[] = [];
    for (let from = 0; from < others.length; from += OPENED_TOGETHER) {
      const some = others.slice(from, from + OPENED_TOGETHER);
      const [opened] = await Promise.all([
        Promise.all(some.map((record) => limit(() => receiveRecord(record, isLive)))),
        appendAll(lines),
      ]);
      lines = opened.flat();
    }
    await appendAll(lines);
  }

  async function appendAll(lines: readonly EventDraft[]): Promise<void> {
    await Promise.all(lines.map(append));
  }

  /** Not while the administrator changes it: neither must be lost. */
  async function receiveRoster(stored: StoredRecord): Promise<void> {
    await oneAtATime(() => applyRoster(stored));
    await retryHeld();
  }

  async function applyRoster(stored: StoredRecord): Promise<void> {
    if (file === undefined) return;
    const before = file;
    const version = parseStored(stored)?.body.version ?? 0;
    const opened = await openRoster(before, stored, now());
    if ('refused' in opened) {
      // The administrator's own roster comes back while a newer one is on its way.
      const isOnItsWay = before.admin === before.keys.id && version > rosterSeen;
      if (opened.refused !== 'old-version' || !isOnItsWay) refusals.add(opened, stored);
      return;
    }
    rosterSeen = version;
    if (opened.file === undefined)
      return enter('removed', 'this machine was removed from the team', 'Remove its keys: svc team leave');
    if (JSON.stringify(opened.file) !== JSON.stringify(before)) await writeTeamFile(configDir, opened.file);
    file = opened.file;
    if (file.roster === null) return;
    watch.keepMachines(new Set(Object.keys(file.machines)));
    await appendAll(rosterLines(state.board(), file));
    if (before.roster !== null && newestKey(before).key === newestKey(file).key) return;
    await readWithNewKey();
  }

  /** Records that came before their roster. */
  async function retryHeld(): Promise<void> {
    for (const record of refusals.takeHeld()) await appendAll(await receiveRecord(record, true));
  }

  /** The lines to append. */
  async function receiveRecord(stored: StoredRecord, isLive: boolean): Promise<EventDraft[]> {
    const path = parseRecordPath(stored.path);
    const own = file;
    if (own === undefined || own.roster === null) return [];
    if (path?.kind === 'join') return receiveJoin(stored, path.machine, isLive);
    if (path !== undefined && !isKnownKind(path.kind)) return [];
    const opened = await openRecord(own, stored, versions.get(stored.path) ?? 0);
    if ('refused' in opened) {
      if (opened.isSigned === true) sawUnreadable(stored, own);
      // What a removed machine left at the relay is no news.
      if (opened.refused !== 'removed-machine' || isLive) refusals.add(opened, stored);
      return [];
    }
    const { machine, kind, version } = opened;
    if (machine === own.keys.id) {
      publisher.note(opened, path?.hash ?? '');
      if (kind === 'machine') watch.sawOwnBeat(machine, version);
      return [];
    }
    if (path !== undefined) watch.sawRecord(path, stored.path, version, opened.value === null);
    watch.sawKey(machine, opened, isLive, ownPart(own));
    // Another of the same path may have been opened meanwhile.
    if ((versions.get(stored.path) ?? 0) >= version) return [];
    versions.set(stored.path, version);
    budget.drop(machine, stored.path);
    if (kind === 'machine') return receiveHeartbeat(opened, isLive, own);
    const lines =
      kind === 'command' || kind === 'result'
        ? commandLines(state.board(), own, opened)
        : sharedLines(state.board(), opened);
    if (!('refused' in lines))
      return lines.filter((line) => budget.take(machine, stored.path, line, stored.body.length));
    refusals.add(lines, stored);
    return [];
  }

  /** Appends what was kept, when its hour is over. */
  async function takeKept(): Promise<void> {
    const { values, isIncomplete } = budget.due();
    await appendAll(values);
    if (!isIncomplete) return;
    versions.clear();
    await open(true);
  }

  /** Its machine has signed it, but the key is not known here, or the content is wrong. */
  function sawUnreadable(stored: StoredRecord, own: TeamFile): void {
    const parsed = parseStored(stored);
    if (parsed === undefined) return;
    const { path, body } = parsed;
    if (path.machine === own.keys.id) publisher.noteUnreadable(path, body.version);
    else watch.sawRecord(path, stored.path, body.version, body.gone === true);
  }

  async function receiveHeartbeat(
    { machine, value, version }: OpenedRecord,
    isLive: boolean,
    own: TeamFile,
  ): Promise<EventDraft[]> {
    options.onChange();
    if (value === null) {
      void admin.left(machine);
      return [];
    }
    const beat = Heartbeat.parse(value);
    watch.heard(machine, version, beat, isLive, ownPart(own));
    const person = own.roster?.members.find(({ id }) => id === machine)?.person ?? '';
    return [
      ...(isLive ? await confirmedLines(machine) : []),
      ...receivedHandOvers(state.board(), publisher, { person, heard: beat.heard[own.keys.id] ?? 0 }),
    ];
  }

  async function receiveJoin(stored: StoredRecord, invitation: string, isLive: boolean): Promise<[]> {
    if (file?.admin !== file?.keys.id || file === undefined) return [];
    const opened = await openJoin(file, stored, now());
    if (!('refused' in opened)) void admin.admit(opened);
    else if (isLive || !file.used.includes(invitation)) refusals.add(opened, stored);
    return [];
  }

  /** A complete stream has everything that exists, if the heartbeats of the machines say so too. */
  async function removeMissing(paths: ReadonlySet<string>): Promise<void> {
    publisher.keepOnly(paths);
    watch.keepOnly(paths);
    for (const machine of Object.keys(file?.machines ?? {})) unconfirmed.add(machine);
    for (const machine of unconfirmed) await appendAll(await confirmedLines(machine));
  }

  async function confirmedLines(machine: string): Promise<EventDraft[]> {
    const names = file?.roster?.names;
    const paths = unconfirmed.has(machine) ? watch.confirmedPaths(machine) : undefined;
    if (names === undefined || paths === undefined) return [];
    unconfirmed.delete(machine);
    return missingLines(state.board(), names, machine, paths);
  }

  // The administrator's part.

  const admin = createAdministrator({
    configDir,
    file: () => file,
    setFile: (next) => (file = next),
    oneAtATime,
    async onPublished(own) {
      watch.keepMachines(new Set(Object.keys(own.machines)));
      await appendAll(rosterLines(state.board(), own));
    },
    onNewKey: readWithNewKey,
    logger,
    now,
  });

  async function readWithNewKey(): Promise<void> {
    keysTried = 0;
    await open(true);
  }

  function nameOf(id: string): string {
    return file?.roster?.members.find((member) => member.id === id)?.machine ?? id;
  }

  return {
    file: () => file,
    mode: () => mode,
    enter,
    open,
    changeRoster: admin.changeRoster,
    publishRoster: admin.publishRoster,
    remove: admin.remove,
    retryRoster: () => admin.retryRoster(),
    expire: admin.expire,
    heardAt: (id: string) => (id === file?.keys.id ? now() : watch.heardAt(id)),
    silentMs: watch.silentMs,
    takeKept,
    boardChanged(): void {
      if (file !== undefined) publisher.changed();
    },
    figures: () => ({
      ...publisher.figures(),
      ...admin.figures(nameOf),
      findings: watch.findings().map((finding) => ({ ...finding, name: nameOf(finding.machine) })),
      exceeded: budget.exceeded().map(nameOf),
      refused: refusals.lately(newestKey(file ?? { teamKeys: [] }).epoch, nameOf),
    }),
    /** For a team that this machine has just created or joined. */
    async begin(next: TeamFile): Promise<void> {
      // Two would publish with different versions.
      await publisher.stop();
      publisher = newPublisher();
      for (const part of [versions, watch, budget, unconfirmed, refusals, admin]) part.clear();
      keysTried = 0;
      position = null;
      rosterSeen = 0;
      await writeTeamFile(configDir, next);
      file = next;
    },
    /** With what the file has, after a start. */
    async resume(found: TeamFile): Promise<void> {
      if (stopped || file !== undefined) return;
      file = found;
      watch.keepMachines(new Set(Object.keys(found.machines)));
      enter(found.roster === null ? 'joining' : 'connecting');
      await admin.resume();
      await open();
    },
    async leave(own: TeamFile): Promise<void> {
      if (mode.state === 'live')
        await publisher.withdraw(own).catch(async (error: unknown) => {
          // It stays a member: what the relay still has is read back, and the rest is published again.
          publisher = newPublisher();
          await open(true);
          throw error;
        });
      else await publisher.stop();
      await stream?.stop();
      stream = undefined;
      file = undefined;
      await removeTeamFile(configDir);
    },
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(turns);
      await publisher.stop();
      await stream?.stop();
    },
  };
}
