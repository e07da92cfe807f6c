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
import {
  draft,
  type EventDraft,
  formatRecordPath,
  Heartbeat,
  isSharedKind,
  parseRecordPath,
  positionInReady,
  StoredRecord,
  type TeamStatus,
} from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { createLimit } from '@svc/lib/limit';
import type { Logger } from 'pino';
import type { StateFollower } from '../state/state-follower.ts';
import type { StreamFrame } from '../tunnel/delivery.ts';
import { commandLines } from './commands.ts';
import { createPublisher } from './publisher.ts';
import {
  makeRoster,
  newestKey,
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
import { type Admitted, sameMembers, withMember, withoutMember } from './roster-changes.ts';
import { nameHash } from './seal.ts';
import { removeTeamFile, type TeamFile, writeTeamFile } from './team-file.ts';

const FAILED_PAUSE_MS = 5_000;
const DAY_MS = 86_400_000;
const OPENED_AT_ONCE = 16;
/** Their lines share a commit. */
const OPENED_TOGETHER = 500;

type Mode = { state: TeamStatus['state']; since: number; why: string | null; remedy: string | null };

export type TeamOptions = {
  configDir: string;
  state: StateFollower;
  /** A line with a delivery id is written once. */
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  version: string;
  logger: Logger;
  now: () => number;
};

export function createSync(options: TeamOptions & { onChange: () => void }) {
  const { configDir, state, append, logger, now } = options;
  const oneAtATime = createLimit(1, 100);
  const refusals = createRefusals({ logger, now });
  /** Versions of records that were received, and when machines were heard. */
  const versions = new Map<string, number>();
  const heard = new Map<string, number>();
  let file: TeamFile | undefined;
  let mode: Mode = { state: 'connecting', since: now(), why: null, remedy: null };
  let stream: RecordStream | undefined;
  let keysTried = 0;
  let position: string | null = null;
  /** The highest version of the roster that the relay has sent. */
  let rosterSeen = 0;
  /** Why the relay does not have the roster of this machine, the administrator's; null if it has it. */
  let rosterFailing: string | null = null;
  let collected: StoredRecord[] | undefined = [];
  let publisher = newPublisher();
  let stopped = false;

  function newPublisher() {
    return createPublisher({
      file: () => (mode.state === 'live' ? file : undefined),
      board: state.board,
      put: (record) => putRecord(file?.channelUrl ?? '', record),
      version: options.version,
      now,
      onFailure(error) {
        logger.warn({ err: error }, 'records of the team could not be published');
        if (isRefusedAs(error, 'not-a-member')) republishLostRoster();
      },
    });
  }

  function enter(next: TeamStatus['state'], why: string | null = null, remedy: string | null = null): void {
    mode = { state: next, since: mode.state === next ? mode.since : now(), why, remedy };
    options.onChange();
  }

  // The stream.

  async function open(): Promise<void> {
    const own = file;
    if (own === undefined || stopped) return;
    const keys = await streamKeys(own);
    // It was stopped, or the team was left, meanwhile.
    if (stopped || file?.channelUrl !== own.channelUrl) return;
    if (own.roster === null) keysTried = Math.max(1, keysTried);
    const key = keys[Math.min(keysTried, keys.length - 1)] ?? '';
    const before = stream;
    collected = [];
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

  function lostStream({ why, remedy, isRefused }: Lost, keys: number): void {
    if (mode.state === 'removed') return;
    if (isRefused) republishLostRoster();
    if (isRefused && keysTried < keys - 1) {
      keysTried += 1;
      void open();
      return;
    }
    if (isRefused)
      enter(
        file?.roster === null ? 'joining' : 'unreachable',
        file?.roster === null
          ? 'the relay does not accept the invitation: it was used, or has expired'
          : 'the relay does not accept the keys of this machine: it was probably removed from the team',
        'Ask for a new invitation (svc team invite), then: svc team leave, svc team join <invitation>',
      );
    else
      enter(
        file?.roster === null ? 'joining' : 'unreachable',
        why,
        remedy ?? 'Check the network and the relay',
      );
  }

  /** A roster with another key opens another stream, which brings everything again; so does another connection. */
  async function take({ event, id, data }: StreamFrame, isCurrent: () => boolean): Promise<void> {
    if (!isCurrent()) return;
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
      // Everything comes again, and what is not in the log must not count as known.
      position = null;
      versions.clear();
      setTimeout(() => void open(), FAILED_PAUSE_MS).unref();
    }
  }

  async function ready(): Promise<void> {
    if (file === undefined || file.roster === null || mode.state === 'removed') return;
    if (keysTried > 0) {
      // Only the roster can be read with such a key, and it has brought nothing new.
      keysTried = 0;
      setTimeout(() => void open(), FAILED_PAUSE_MS).unref();
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
    const opened = await openRoster(before, stored);
    if ('refused' in opened) {
      // The administrator's own roster comes back while a newer one is on its way.
      const isOnItsWay = before.admin === before.keys.id && version > rosterSeen;
      if (opened.refused !== 'old-version' || !isOnItsWay) refusals.add(opened, stored);
      return;
    }
    rosterSeen = version;
    if (opened.file === undefined)
      return enter('removed', 'this machine was removed from the team', 'Remove its keys: svc team leave');
    file = opened.file;
    if (JSON.stringify(file) !== JSON.stringify(before)) await writeTeamFile(configDir, file);
    if (file.roster === null) return;
    await logRoster(file);
    if (before.roster !== null && newestKey(before).key === newestKey(file).key) return;
    keysTried = 0;
    position = null;
    await open();
  }

  async function logRoster({ roster, rosterVersion }: TeamFile): Promise<void> {
    const machines = (roster?.members ?? []).map(({ agree: _agree, ...member }) => member);
    const known = [...state.board().members.values()].map(
      ({ lastSeq: _seq, lastAt: _at, ...member }) => member,
    );
    if (sameMembers(machines, known)) return;
    const detail = { version: rosterVersion, machines, ...(roster !== null && { team: roster.team }) };
    await append(draft('team.roster.changed', {}, detail));
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
      // What a removed machine left at the relay is no news.
      if (opened.refused !== 'removed-machine' || isLive) refusals.add(opened, stored);
      return [];
    }
    const { machine, kind, version } = opened;
    if (machine === own.keys.id) {
      publisher.note(opened, path?.hash ?? '');
      return [];
    }
    // Another of the same path may have been opened meanwhile.
    if ((versions.get(stored.path) ?? 0) >= version) return [];
    versions.set(stored.path, version);
    if (kind === 'machine') return receiveHeartbeat(opened, isLive);
    if (kind !== 'command' && kind !== 'result') return sharedLines(state.board(), opened);
    const lines = commandLines(state.board(), own, opened);
    if (!('refused' in lines)) return lines;
    refusals.add(lines, stored);
    return [];
  }

  function receiveHeartbeat({ machine, value }: OpenedRecord, isLive: boolean): EventDraft[] {
    if (value === null) void admin.left(machine);
    else heard.set(machine, isLive ? now() : Math.min(now(), Date.parse(Heartbeat.parse(value).at)));
    options.onChange();
    return [];
  }

  async function receiveJoin(stored: StoredRecord, invitation: string, isLive: boolean): Promise<[]> {
    if (file?.admin !== file?.keys.id || file === undefined) return [];
    const opened = await openJoin(file, stored, now());
    if (!('refused' in opened)) void admin.admit(opened);
    else if (isLive || !file.used.includes(invitation)) refusals.add(opened, stored);
    return [];
  }

  /** A complete stream has everything that exists. */
  async function removeMissing(paths: ReadonlySet<string>): Promise<void> {
    const names = file?.roster?.names;
    if (names === undefined) return;
    publisher.keepOnly(paths);
    const drafts: EventDraft[] = [];
    for (const { machine, kind, key, version, value } of state.board().team.values()) {
      if (value === null) continue;
      const path = formatRecordPath({ machine, kind, hash: await nameHash(names, kind, key) });
      if (!paths.has(path)) drafts.push(draft('team.record.removed', {}, { machine, kind, key, version }));
    }
    await appendAll(drafts);
  }

  // The administrator's part: every change of the roster is on disk before the relay gets it.

  async function changeRoster(change: (own: TeamFile) => TeamFile | undefined): Promise<void> {
    await oneAtATime(async () => {
      const next = file && change(file);
      if (next === undefined) return;
      file = { ...next, rosterVersion: Math.max(next.rosterVersion + 1, now()) };
      await writeTeamFile(configDir, file);
      await publishRoster();
    });
  }

  async function publishRoster(): Promise<void> {
    if (file === undefined) return;
    await putRecord(file.channelUrl, await makeRoster(file)).catch((error: unknown) => {
      // The relay has this one already, or a later one, which the stream brings.
      rosterFailing = isRefusedAs(error, 'old-version') ? null : messageOf(error);
      throw error;
    });
    rosterFailing = null;
    await logRoster(file);
  }

  /** A relay that has lost the roster lets nobody read or write. */
  function republishLostRoster(): void {
    if (file?.admin === file?.keys.id) void oneAtATime(publishRoster).catch(failed);
  }

  const admin = {
    async admit(join: Admitted): Promise<void> {
      await changeRoster((own) => withMember(own, join)).catch(failed);
    },
    /** The machine has removed its heartbeat. */
    async left(id: string): Promise<void> {
      if (file?.admin === file?.keys.id) await admin.remove(id).catch(failed);
    },
    async remove(id: string): Promise<void> {
      await changeRoster((own) => withoutMember(own, id));
      keysTried = 0;
      position = null;
      await open();
    },
    /** Until then a machine that was removed can read, and one that was admitted cannot. */
    async retry(): Promise<void> {
      if (rosterFailing !== null) await oneAtATime(publishRoster).catch(failed);
    },
    /** The relay must not accept it any longer; what is left of it is remembered for a day, to name its use. */
    async expire(): Promise<void> {
      const isNews = file?.invitations.some(
        ({ expiresAt }) => expiresAt < now() && expiresAt >= (file?.rosterVersion ?? 0),
      );
      if (isNews !== true) return;
      const old = now() - DAY_MS;
      await changeRoster((own) => ({
        ...own,
        invitations: own.invitations.filter(({ expiresAt }) => expiresAt > old),
      })).catch(failed);
    },
  };

  function failed(error: unknown): void {
    logger.warn({ err: error }, 'the roster of the team could not be published');
  }

  function nameOf(id: string): string {
    return file?.roster?.members.find((member) => member.id === id)?.machine ?? id;
  }

  return {
    file: () => file,
    mode: () => mode,
    enter,
    open,
    changeRoster,
    publishRoster,
    remove: (id: string) => admin.remove(id),
    retryRoster: () => admin.retry(),
    expire: () => admin.expire(),
    heardAt(id: string): number | undefined {
      const at = id === file?.keys.id ? now() : heard.get(id);
      // The clock was set back.
      if (at !== undefined && at > now()) heard.set(id, now());
      return at === undefined ? undefined : Math.min(at, now());
    },
    boardChanged(): void {
      if (file !== undefined) publisher.changed();
    },
    figures: () => ({
      ...publisher.figures(),
      rosterFailing,
      refused: refusals.lately(newestKey(file ?? { teamKeys: [] }).epoch, nameOf),
    }),
    /** Of a team that this machine has just created or joined. */
    async begin(next: TeamFile): Promise<void> {
      publisher = newPublisher();
      versions.clear();
      heard.clear();
      refusals.clear();
      keysTried = 0;
      position = null;
      rosterSeen = 0;
      rosterFailing = null;
      await writeTeamFile(configDir, next);
      file = next;
    },
    /** With what the file has, after a start. */
    async resume(found: TeamFile): Promise<void> {
      if (stopped || file !== undefined) return;
      file = found;
      enter(found.roster === null ? 'joining' : 'connecting');
      if (found.admin === found.keys.id) await publishRoster().catch(failed);
      await open();
    },
    async leave(own: TeamFile): Promise<void> {
      if (mode.state === 'live')
        await publisher.withdraw(own).catch(async (error: unknown) => {
          // It stays a member: what the relay still has is read back, and the rest is published again.
          publisher = newPublisher();
          position = null;
          await open();
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
      await publisher.stop();
      await stream?.stop();
    },
  };
}

function isRoster(record: StoredRecord): boolean {
  return parseRecordPath(record.path)?.kind === 'roster';
}

function isKnownKind(kind: string): boolean {
  return kind === 'machine' || kind === 'command' || kind === 'result' || isSharedKind(kind);
}
