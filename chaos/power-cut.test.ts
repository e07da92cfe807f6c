// What the disk of power-cut.ts keeps and loses, and that it keeps what the product reports as durable. Skipped if the
// required packages are missing; `.ci/nightly` has them.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type InboxMessage, writeMessage } from '../packages/monitor/src/features/agents/io/inbox.ts';
import { writeFileAtomically } from '../packages/monitor/src/kernel/disk/atomic-write.ts';
import { openDatabase } from '../packages/monitor/src/kernel/disk/sqlite.ts';
import { openEventLog } from '../packages/monitor/src/kernel/log/event-log.ts';
import { leaveInSpool } from '../packages/monitor/src/kernel/log/spool.ts';
import { openSpill } from '../packages/relay/src/channels/spill.ts';
import { EngineUnavailable } from '../packages/relay/src/engine/engine.ts';
import { createLogger } from '../packages/relay/src/http/relay-parts.ts';
import { temporaryFolder } from '../packages/testkit/src/temporary-folder.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import { mountPowerCutDisk, type PowerCutDisk, type PowerCutOptions } from './power-cut.ts';

const draft = {
  event: 'codehost.push',
  source: 'codehost.webhook',
  via: 'live',
  scope: {},
  detail: {},
} as const;

describe.runIf(isPossible())('on a disk that loses unsynced data', () => {
  test('bytes, lengths, names and renames are kept if and only if they were synced', async () => {
    const { folder, cut } = await disk();
    const at = (name: string): string => join(folder, name);
    for (const name of ['kept', 'changed', 'renamed-before'])
      writeFileSync(at(name), 'synced', { flush: true });
    sync(folder);
    appendFileSync(at('changed'), ', and more');
    renameSync(at('renamed-before'), at('renamed-after'));
    writeFileSync(at('new'), 'synced, but not its name', { flush: true });
    mkdirSync(at('folder'));
    await cut(nothingRuns);
    expect(readdirSync(folder).toSorted()).toEqual(['changed', 'kept', 'renamed-before']);
    expect(readFileSync(at('changed'), 'utf8')).toBe('synced');
  });

  test('a name is kept with its file if the disk has a journal', async () => {
    const { folder, cut } = await disk({ names: 'journal' });
    writeFileSync(join(folder, 'new'), 'synced', { flush: true });
    writeFileSync(join(folder, 'later'), 'not synced');
    await cut(nothingRuns);
    expect(readdirSync(folder)).toEqual(['new']);
  });

  test('a torn cut keeps some unsynced data, the same for the same seed', async () => {
    const kept: string[] = [];
    for (const torn of [1, 1, 2, 3, 4]) {
      const { folder, cut } = await disk();
      writeFileSync(join(folder, 'pages'), '');
      sync(folder);
      writeFileSync(join(folder, 'pages'), Buffer.alloc(100_000, 'x'));
      await cut({ ...nothingRuns, torn });
      kept.push(readFileSync(join(folder, 'pages'), 'latin1'));
    }
    expect(kept[0]).toBe(kept[1]);
    expect(new Set(kept).size).toBeGreaterThan(2);
  });

  test.each(['nothing', 'files'] as const)('if a sync saves %s, a new file is lost', async (saved) => {
    const { folder, cut } = await disk({ sync: saved });
    await writeFileAtomically(join(folder, 'file'), 'text');
    await cut(nothingRuns);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('what the product reports as durable is kept, in folders that it had to create', async () => {
    const { folder, cut } = await disk();
    const at = (name: string): string => join(folder, name, 'new', 'folders');
    await writeFileAtomically(join(at('atomic'), 'file'), 'text');
    const spooled = await leaveInSpool({ folder: at('spool'), draft, now: 0, random: 'a' });
    const message = { key: 'k', at: '2026-01-02T03:04:05.678Z' } as InboxMessage;
    await writeMessage(join(at('inbox'), 'T-1.jsonl'), message);
    const database = openDatabase(join(at('database'), 'svc.db'), {
      area: 'test',
      migrations: ['CREATE TABLE numbers (number INTEGER)'],
      syncEach: true,
    });
    database.exec('INSERT INTO numbers VALUES (7)');
    const log = openLog(at('log'));
    await log.append(draft);
    await cut({
      kill: async () => {
        database.close();
        await log.close();
      },
      torn: null,
    });
    expect(readFileSync(join(at('atomic'), 'file'), 'utf8')).toBe('text');
    expect(readdirSync(at('spool'))).toEqual([spooled]);
    expect(readFileSync(join(at('inbox'), 'T-1.jsonl'), 'utf8')).toBe(`${JSON.stringify(message)}\n`);
    const again = openDatabase(join(at('database'), 'svc.db'), { area: 'other', migrations: [] });
    expect(again.prepare('SELECT number FROM numbers').all()).toEqual([{ number: 7 }]);
    again.close();
    const after = openLog(at('log'));
    expect(after.lastSeq()).toBe(1);
    await after.close();
  });

  test.each([null, 1, 2, 3, 4])(
    'what a relay has acknowledged from its spill is kept, torn %s',
    async (torn) => {
      const { lost, held } = await cutSpill({}, torn);
      expect(held).toBeGreaterThan(20);
      expect(lost).toEqual([]);
    },
  );

  test('the same spill loses on a disk that syncs nothing', async () => {
    const { lost, held } = await cutSpill({ sync: 'nothing' }, null);
    expect(lost).toHaveLength(held);
  });
});

/** Senders post one after the other while there is no leader; the power is cut; another relay finds a leader. */
async function cutSpill(options: Omit<PowerCutOptions, 'folder'>, torn: number | null) {
  const { folder, cut } = await disk(options);
  const stored = new Set<string>();
  let hasLeader = false;
  const open = () =>
    openSpill({
      folder: join(folder, 'new', 'folders'),
      maxBytes: 2 ** 20,
      engine: {
        shardOf: () => 0,
        async publish(_, { body }) {
          if (!hasLeader) throw new EngineUnavailable('no leader');
          stored.add(body.toString());
          return { position: { epoch: 'e', seq: stored.size }, duplicate: false };
        },
      },
      logger: createLogger({ write: () => undefined }, 'silent'),
      timing: { everyMs: 2 },
    });
  const first = await open();
  const held: string[] = [];
  const sending = { over: false };
  const senders = ['a', 'b', 'c', 'd'].map(async (sender) => {
    for (let number = 0; !sending.over; number += 1) {
      const text = `${sender}${number}`;
      const delivery = { headers: {}, query: {}, receivedAt: Date.now(), body: Buffer.from(text) };
      await first.publish('one', delivery, { messageId: text, deadlineMs: 1000 });
      if (!sending.over) held.push(text);
    }
  });
  const finished = Promise.allSettled(senders);
  await until(() => held.length > 20);
  await cut({
    kill: async () => {
      sending.over = true;
      await first.close(0).catch(() => undefined);
    },
    torn,
  });
  await finished;
  hasLeader = true;
  const second = await open();
  await until(() => second.state().waiting === 0);
  await second.close(0);
  return { held: held.length, lost: held.filter((text) => !stored.has(text)) };
}

const nothingRuns = { kill: async () => undefined, torn: null };

async function disk(options: Omit<PowerCutOptions, 'folder'> = {}): Promise<PowerCutDisk> {
  const mounted = await mountPowerCutDisk({ folder: temporaryFolder(), ...options });
  onTestFinished(() => mounted.unmount());
  return mounted;
}

/** Its database is elsewhere: the log must not depend on SQLite's syncs. */
function openLog(folder: string) {
  return openEventLog({
    eventsFolder: folder,
    databaseFile: join(temporaryFolder(), 'svc.db'),
    clock: { now: () => Date.now() },
    host: { id: 'test', name: 'test' },
    newId: () => crypto.randomUUID(),
  });
}

function sync(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function isPossible(): boolean {
  try {
    accessSync('/dev/fuse', constants.W_OK);
  } catch {
    return false;
  }
  return (
    existsSync('/usr/bin/fusermount3') && spawnSync('/usr/bin/python3', ['-c', 'import pyfuse3']).status === 0
  );
}
