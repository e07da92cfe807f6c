// The records of a team, for a channel that was made with an administrator's key:
//   PUT /:channel/:path     store a record    GET /:channel/records    stream what is stored, and every change
//
// The relay cannot read values. It checks that the writer is a machine in the administrator's roster and signs for its own
// paths, and that a version only grows. Reading needs the read key that the roster names; the guest of an invitation may
// read the roster, and write one join.
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  formatRecordPath,
  MAX_RECORD_BYTES,
  MAX_RECORDS_PER_MACHINE,
  MAX_ROSTER_BYTES,
  parseRecordBody,
  parseRecordPath,
  type RecordBody,
  type RecordPath,
  ROSTER_HASH,
  StoredRecord,
  signedText,
  type TeamAccess,
} from '@svc/contract/relay/record';
import { type ByteBudget, createByteBudget, readBody } from '@svc/lib/read-body';
import type { Channel } from '../engine/engine.ts';
import { relayAnnouncement } from '../protocol/event-stream.ts';
import { formatPosition, parsePosition, senderTimeoutMs } from '../protocol/frame.ts';
import { RecordChanged } from '../records/records.ts';
import { answerJson, type RefusalCode, refuse } from './answer.ts';
import { bringsKey } from './read-access.ts';
import { limitKeyOf, type RelayParts } from './relay-parts.ts';

/** A machine that was removed by another relay process can write for this long. Readers check the roster themselves. */
const ROSTER_FRESH_MS = 1000;
const MAX_ROSTERS = 10_000;
const LEAST_TIMEOUT_MS = 500;
const MOST_TRIES = 5;
/** A removed thing is remembered for so long. */
const GONE_TTL_SECONDS = 30 * 86_400;
/** An invitation is valid for an hour. */
const JOIN_TTL_SECONDS = 86_400;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** From one address at once. */
const MAX_UNCHECKED_BYTES = 4 * 1024 * 1024;
const signatureForm = /^[A-Za-z0-9_-]{86}$/;

type Refused = { code: RefusalCode; waitMs?: number };
type Team = { channel: Channel & { admin: string }; access: TeamAccess | undefined };

export function createTeamRecords(parts: RelayParts) {
  const { engine, limits, settings, metrics, logger, budget, now } = parts;
  const { records } = engine;
  const rosters = new Map<string, { access: TeamAccess | undefined; at: number }>();
  /** For bodies in memory whose signature is not checked yet, by address. */
  const shares = new Map<string, ByteBudget>();
  /** Those that are open, by channel. */
  const streams = new Map<string, Set<ServerResponse>>();

  async function teamOf(request: IncomingMessage, id: string): Promise<Team | Refused> {
    const waitMs = limits.request(limitKeyOf(request, settings), now());
    if (waitMs > 0) return { code: 'rate-limited', waitMs };
    const channel = await engine.findChannel(id);
    if (channel?.admin === undefined) return { code: 'unknown-channel' };
    return { channel: { ...channel, admin: channel.admin }, access: await accessOf(id, channel.admin) };
  }

  async function accessOf(id: string, admin: string): Promise<TeamAccess | undefined> {
    const known = rosters.get(id);
    if (known !== undefined && now() - known.at < ROSTER_FRESH_MS) return known.access;
    const stored = await records.last(id, rosterPath(admin));
    const access = stored && parseRecordBody(recordIn(stored.data).body)?.access;
    rosters.delete(id);
    rosters.set(id, { access, at: now() });
    const oldest = rosters.size > MAX_ROSTERS ? rosters.keys().next().value : undefined;
    if (oldest !== undefined) rosters.delete(oldest);
    return access;
  }

  async function store(
    team: Team,
    path: RecordPath,
    record: StoredRecord,
    { version, gone, access }: RecordBody,
    deadline: number,
  ): Promise<Refused | { isKnown: boolean }> {
    const data = Buffer.from(JSON.stringify(record));
    const { id } = team.channel;
    for (let tries = 1; ; tries += 1) {
      const last = await records.last(id, record.path);
      const known = last && recordIn(last.data);
      if (known?.body === record.body && known.signature === record.signature) return { isKnown: true };
      if (known !== undefined && (parseRecordBody(known.body)?.version ?? 0) >= version)
        return { code: 'old-version' };
      if (last === undefined && (await records.count(id, path.machine)) >= MAX_RECORDS_PER_MACHINE)
        return { code: 'too-many-records' };
      try {
        await records.put(id, record.path, data, {
          messageId: `${id}:${record.path}:${hash('sha256', data, 'base64url')}`,
          expectedLast: last?.seq ?? 0,
          deadlineMs: Math.max(LEAST_TIMEOUT_MS, deadline - now()),
          ...(gone === true && { ttlSeconds: GONE_TTL_SECONDS }),
          ...(path.kind === 'join' && { ttlSeconds: JOIN_TTL_SECONDS }),
        });
        if (path.kind === 'roster') {
          rosters.delete(id);
          const earlier = (known && parseRecordBody(known.body)?.access?.machines) ?? {};
          for (const machine of Object.keys(earlier))
            if (access?.machines[machine] === undefined) forget(id, machine);
        }
        return { isKnown: false };
      } catch (error) {
        if (!(error instanceof RecordChanged) || tries === MOST_TRIES) throw error;
      }
    }
  }

  /** For a removed machine. Twice, because another relay process may accept it for a while. */
  function forget(id: string, machine: string): void {
    for (const waitMs of [0, 2 * ROSTER_FRESH_MS])
      setTimeout(() => {
        records.forget(id, machine).catch((error: unknown) => {
          logger.warn({ err: error }, 'the records of a removed machine could not be removed');
        });
      }, waitMs).unref();
  }

  async function take(request: IncomingMessage, id: string, pathText: string) {
    const deadline = now() + senderTimeoutMs(request.headers);
    const path = parseRecordPath(pathText);
    if (path === undefined) return { code: 'bad-request' } as const;
    const team = await teamOf(request, id);
    if ('code' in team) return team;
    const writer = writerOf(request, team, path);
    if (writer === undefined) return { code: 'not-a-member' } as const;
    const signature = signatureIn(request);
    if (writer !== 'guest' && signature === undefined) return { code: 'bad-signature' } as const;
    const most = path.kind === 'roster' ? MAX_ROSTER_BYTES : MAX_RECORD_BYTES;
    const address = limitKeyOf(request, settings);
    const unchecked = uncheckedOf(address);
    const read = await readBody(request, most, unchecked);
    if (typeof read === 'string') return { code: read === 'too-large' ? 'record-too-large' : read } as const;
    try {
      const text = read.toString();
      const body = parseRecordBody(text);
      const isSigned =
        writer === 'guest' || isSignedBy(writer, signedText(id, pathText, text), signature ?? '');
      // What a stranger sends does not count for the team's channel.
      limits.weigh(isSigned ? id : null, address, read.length, now());
      if (!isSigned) return { code: 'bad-signature' } as const;
      if (body === undefined || (body.access !== undefined) !== (path.kind === 'roster'))
        return { code: 'bad-request' } as const;
      const waitMs = limits.delivery(id, now());
      if (waitMs > 0) return { code: 'rate-limited', waitMs } as const;
      return await store(
        team,
        path,
        { path: pathText, signature: signature ?? '', body: text },
        body,
        deadline,
      );
    } finally {
      unchecked.give(read.length);
    }
  }

  /** A part of the memory for all bodies: who knows a channel can send a body, before its signature is checked. */
  function uncheckedOf(address: string): ByteBudget {
    const share = (): ByteBudget => {
      const known = shares.get(address) ?? createByteBudget(MAX_UNCHECKED_BYTES);
      shares.set(address, known);
      return known;
    };
    return {
      take(bytes) {
        if (!share().take(bytes)) return false;
        if (budget.take(bytes)) return true;
        share().give(bytes);
        return false;
      },
      give(bytes) {
        budget.give(bytes);
        share().give(bytes);
        if (share().used() === 0) shares.delete(address);
      },
      used: () => share().used(),
    };
  }

  return {
    async put(request: IncomingMessage, response: ServerResponse, id: string, path: string): Promise<void> {
      const result = await take(request, id, path);
      if ('code' in result) {
        metrics.records.add({ outcome: result.code });
        return refuse(request, response, result.code, 'waitMs' in result ? result.waitMs : undefined);
      }
      metrics.records.add({ outcome: result.isKnown ? 'duplicate' : 'stored' });
      answerJson(response, 200, JSON.stringify({ ok: true, ...(result.isKnown && { duplicate: true }) }));
    },

    /** The readers come back, to another relay or to this one. */
    endAll(): void {
      for (const open of streams.values()) for (const response of open) response.end();
    },

    async read(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
      const team = await teamOf(request, id);
      if ('code' in team) return refuse(request, response, team.code, team.waitMs);
      const { access, channel } = team;
      const readKey = access?.readKey ?? channel.readKeyHash;
      const isMember = readKey !== null && bringsKey(request, readKey);
      const isGuest = Object.values(access?.guests ?? {}).some((key) => bringsKey(request, key));
      if (!isMember && !isGuest) return refuse(request, response, 'key-needed');
      if ((streams.get(id)?.size ?? 0) >= limits.subscribersPerChannel)
        return refuse(request, response, 'too-many-subscribers');
      stream(request, response, team.channel, isMember ? { readKey } : 'roster');
    },
  };

  function stream(
    request: IncomingMessage,
    response: ServerResponse,
    { id, admin }: Team['channel'],
    allowed: { readKey: string } | 'roster',
  ): void {
    const roster = rosterPath(admin);
    const last = request.headers['last-event-id'];
    const after = parsePosition(typeof last === 'string' ? last : undefined);
    response.writeHead(200, [
      'Content-Type',
      'text/event-stream',
      'Cache-Control',
      'no-store',
      'X-Accel-Buffering',
      'no',
      'X-Svc-Relay',
      relayAnnouncement(settings.pingSeconds),
    ]);
    response.flushHeaders();
    const open = streams.get(id) ?? new Set();
    streams.set(id, open.add(response));
    const follower = records.follow(id, {
      path: allowed === 'roster' ? roster : '>',
      after: after ?? null,
      onRecord(data, at) {
        const { path, body } = recordIn(data);
        const text = Buffer.from(data).toString();
        response.write(`id: ${formatPosition(at)}\nevent: record\ndata: ${text}\n\n`);
        // The read key was changed: a reader that has the new one comes back with it.
        const key = path === roster ? parseRecordBody(body)?.access?.readKey : undefined;
        if (allowed !== 'roster' && key !== undefined && key !== allowed.readKey) response.end();
        return response.writableLength < MAX_UNSENT_BYTES;
      },
      onReady: (at, complete) =>
        void response.write(
          `event: ready\ndata: ${JSON.stringify({ position: formatPosition(at), complete })}\n\n`,
        ),
      onEnd: () => response.destroy(),
    });
    const ping = setInterval(() => response.write('event: ping\ndata: {}\n\n'), settings.pingSeconds * 1000);
    response.on('drain', () => follower.resume());
    response.on('close', () => {
      clearInterval(ping);
      follower.close();
      open.delete(response);
      if (open.size === 0 && streams.get(id) === open) streams.delete(id);
    });
  }
}

/**
 * Who may write this, before the body is read: the key that must have signed it, or the guest of an invitation, whose key
 * the request brings; undefined for anyone else. An invitation has one join, and a machine none.
 */
function writerOf(
  request: IncomingMessage,
  { channel, access }: Team,
  path: RecordPath,
): 'guest' | { key: string } | undefined {
  if (path.kind === 'join') {
    const isMachine = access?.machines[path.machine] !== undefined;
    const key = isMachine || path.hash !== ROSTER_HASH ? undefined : access?.guests[path.machine];
    return key !== undefined && bringsKey(request, key) ? 'guest' : undefined;
  }
  const key = path.kind === 'roster' ? channel.admin : access?.machines[path.machine];
  return key !== undefined && machineIdOf(key) === path.machine ? { key } : undefined;
}

function signatureIn(request: IncomingMessage): string | undefined {
  const signature = request.headers['x-svc-signature'];
  return typeof signature === 'string' && signatureForm.test(signature) ? signature : undefined;
}

function isSignedBy({ key }: { key: string }, text: string, signature: string): boolean {
  return verify(null, Buffer.from(text), publicKey(key), Buffer.from(signature, 'base64url'));
}

function rosterPath(admin: string): string {
  return formatRecordPath({ machine: machineIdOf(admin), kind: 'roster', hash: ROSTER_HASH });
}

/** A machine is named by its public key, so nobody can write under the name of another. */
function machineIdOf(key: string): string {
  return hash('sha256', Buffer.from(key, 'base64url'), 'base64url').slice(0, 22);
}

function publicKey(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function recordIn(data: Uint8Array): StoredRecord {
  return StoredRecord.parse(JSON.parse(Buffer.from(data).toString()));
}
