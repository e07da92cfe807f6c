import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { matchesFilter } from './event-filter.ts';
import type { EventDraft, EventLine } from './event-line.ts';
import type { EventLog } from './event-log.ts';
import type { LineQuery } from './find-lines.ts';
import { indexed } from './testing/indexed.ts';
import { createTestClock, draft, openTestLog, readAllLines, START } from './testing/sample-log.ts';

const someTopics = [
  'codehost.push',
  'codehost.pr.opened',
  'codehost.pr.merged',
  'tracker.issue.created',
  'comms.attention',
];

/** Events about a few tickets and pull requests, one second apart. */
function sample(count: number): EventDraft[] {
  return Array.from({ length: count }, (_, index) => {
    const scope: EventDraft['scope'] = { repo: index % 11 === 0 ? 'acme/rare' : 'acme/shop' };
    if (index % 3 > 0) scope.pr = index % 17;
    if (index % 4 > 0) scope.ticket = `ABC-${index % 23}`;
    if (index % 5 === 0) scope.sha = `sha-${index % 31}`;
    if (index % 7 === 0) scope.mergeSha = `sha-${index % 29}`;
    if (index % 2 === 0) scope.orchestrator = `run-${Math.floor(index / 1000)}`;
    if (index % 6 === 0) scope.deploymentId = index % 40;
    return draft({
      event: someTopics[index % someTopics.length] ?? '',
      scope,
      deliveryId: `d-${index}`,
      relay: { channel: `c${index % 2}`, id: String(index) },
      detail: { text: 'x'.repeat(index % 200) },
    });
  });
}

async function fill(log: EventLog, clock: { time: number }, drafts: readonly EventDraft[]): Promise<void> {
  for (let from = 0; from < drafts.length; from += 500) {
    await Promise.all(drafts.slice(from, from + 500).map((one) => log.append(one)));
    clock.time += 500_000;
  }
  await indexed(log);
}

/** The expected result, by scanning every line. */
function linearly(lines: readonly EventLine[], query: LineQuery): number[] {
  const { since, until } = query;
  const met = lines.filter((line) => {
    const time = Date.parse(line.ts);
    if (since !== undefined && ('seq' in since ? line.seq <= since.seq : time < since.time)) return false;
    if (until !== undefined && ('seq' in until ? line.seq >= until.seq : time >= until.time)) return false;
    return matchesFilter(line, query);
  });
  const seqs = met.map(({ seq }) => seq);
  return (query.order === 'oldest-first' ? seqs : seqs.toReversed()).slice(0, query.limit ?? 100);
}

async function listed(log: EventLog, query: LineQuery): Promise<number[]> {
  return (await log.list(query)).entries.map(({ line }) => line.seq);
}

const point = fc.oneof(
  fc.record({ seq: fc.integer({ min: 0, max: 11_000 }) }),
  fc.record({ time: fc.integer({ min: START - 1000, max: START + 12_000_000 }) }),
);
const query: fc.Arbitrary<LineQuery> = fc.record(
  {
    topics: fc
      .constantFrom(
        ['*'],
        ['codehost.*'],
        ['codehost.pr.*'],
        ['comms.attention'],
        [],
        ['tracker.*', 'codehost.push'],
      )
      .map((globs) => new Set<string>(globs.flatMap(topics.matching))),
    repo: fc.constantFrom('acme/shop', 'acme/rare', 'acme/none'),
    pr: fc.integer({ min: 0, max: 18 }),
    ticket: fc.integer({ min: 0, max: 24 }).map((n) => `ABC-${n}`),
    sha: fc.integer({ min: 0, max: 32 }).map((n) => `sha-${n}`),
    orchestrator: fc.integer({ min: 0, max: 10 }).map((n) => `run-${n}`),
    deploymentId: fc.integer({ min: 0, max: 41 }),
    since: point,
    until: point,
    order: fc.constantFrom('newest-first', 'oldest-first'),
    limit: fc.integer({ min: 1, max: 300 }),
  },
  { requiredKeys: [] },
);

describe('querying the log', () => {
  test('the index gives the same result as scanning every line, also after a restart and a rebuild', async () => {
    const folder = temporaryFolder();
    const clock = createTestClock();
    const drafts = sample(10_500);
    let log = openTestLog(folder, { clock });
    await fill(log, clock, drafts.slice(0, 9_000));
    await log.close();
    log = openTestLog(folder, { clock });
    await fill(log, clock, drafts.slice(9_000));
    const lines = readAllLines(join(folder, 'events'));
    const agrees = async (one: LineQuery): Promise<void> => {
      expect(await listed(log, one)).toEqual(linearly(lines, one));
    };
    await fc.assert(fc.asyncProperty(query, agrees), { numRuns: 80 });
    const progress: number[] = [];
    await log.reindex({ onProgress: ({ seq }) => progress.push(seq) });
    expect(progress.at(-1)).toBe(10_500);
    await fc.assert(fc.asyncProperty(query, agrees), { numRuns: 80 });
    await log.close();
    log = openTestLog(folder, { clock });
    expect(log.stats().indexedTo).toBe(10_500);
    await fc.assert(fc.asyncProperty(query, agrees), { numRuns: 50 });
    await log.close();
  });

  test('also around a clock that was ahead, and one that was behind at a start', async () => {
    const folder = temporaryFolder();
    const clock = createTestClock();
    const drafts = sample(5_000);
    const offsets = [0, 2_000_000, 900 * 3_600_000, 4_000_000, 1_000_000, 6_000_000];
    for (const [part, time] of offsets.entries()) {
      clock.time = START + time;
      const log = openTestLog(folder, { clock });
      await fill(log, clock, drafts.slice(part * 800, part * 800 + 800));
      await log.close();
    }
    const log = openTestLog(folder, { clock });
    await log.ready;
    const lines = readAllLines(join(folder, 'events'));
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    await fc.assert(
      fc.asyncProperty(query, async (one) => {
        expect(await listed(log, one)).toEqual(linearly(lines, one));
      }),
      { numRuns: 120 },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: START - 1000, max: START + 12_000_000 }), async (time) => {
        const last = lines.findLast(({ ts }) => Date.parse(ts) <= time)?.seq ?? 0;
        expect(await log.lastSeqAt(time)).toBe(last);
        const counted = await log.counts({ since: { time }, from: time, to: time + 3_000_000, buckets: 7 });
        expect(counted.total).toBe(lines.filter(({ ts }) => Date.parse(ts) >= time).length);
      }),
      { numRuns: 40 },
    );
    await log.close();
  });

  test('pages follow each other without gap or overlap', async () => {
    const folder = temporaryFolder();
    const log = openTestLog(folder);
    await fill(log, { time: 0 }, sample(5_000));
    const seen: number[] = [];
    let next: number | null = Infinity;
    while (next !== null) {
      const until: LineQuery['until'] = next === Infinity ? undefined : { seq: next };
      const page = await log.list({ ticket: 'ABC-5', until, limit: 17 });
      seen.push(...page.entries.map(({ line }) => line.seq));
      next = page.next;
    }
    expect(seen).toEqual(linearly(readAllLines(join(folder, 'events')), { ticket: 'ABC-5', limit: 10_000 }));
    await log.close();
  });

  test('a line can be found as soon as its append resolves', async () => {
    const log = openTestLog(temporaryFolder());
    for (let count = 0; count < 30; count += 1) {
      const { seq } = await log.append(draft({ scope: { ticket: `T-${count}` } }));
      expect(await listed(log, { ticket: `T-${count}` })).toEqual([seq]);
    }
    await log.close();
  });
});

describe('the relay cursor', () => {
  test('is the newest position per channel, across restarts and rebuilds', async () => {
    const folder = temporaryFolder();
    let log = openTestLog(folder);
    expect(log.cursorOf('c0')).toBeNull();
    await fill(log, { time: 0 }, sample(4_301));
    const cursors = () => [log.cursorOf('c0'), log.cursorOf('c1'), log.cursorOf('other')];
    expect(cursors()).toEqual(['4300', '4299', null]);
    await log.reindex();
    expect(cursors()).toEqual(['4300', '4299', null]);
    await log.close();
    log = openTestLog(folder);
    await log.ready;
    expect(cursors()).toEqual(['4300', '4299', null]);
    await log.close();
  });
});

describe('an index that does not match the log', () => {
  async function filled(): Promise<{ folder: string; database: string; file: string }> {
    const folder = temporaryFolder();
    const log = openTestLog(folder, { clock: createTestClock() });
    await fill(log, { time: 0 }, sample(5_000));
    await log.close();
    return { folder, database: join(folder, 'svc.db'), file: join(folder, 'events', '2026-11.jsonl') };
  }

  async function expectWhole(folder: string): Promise<ReturnType<typeof openTestLog>> {
    const log = openTestLog(folder, { clock: createTestClock() });
    await log.ready;
    const lines = readAllLines(join(folder, 'events'));
    expect(log.stats().indexedTo).toBe(lines.length);
    expect(await listed(log, { ticket: 'ABC-7', limit: 10_000 })).toEqual(
      linearly(lines, { ticket: 'ABC-7', limit: 10_000 }),
    );
    expect(await log.appendOnce(draft({ deliveryId: 'd-3' }))).toMatchObject({ duplicate: true, seq: 4 });
    return log;
  }

  test('older than the log: it catches up', async () => {
    const { folder, database } = await filled();
    copyFileSync(database, `${database}.old`);
    const longer = openTestLog(folder, { clock: createTestClock() });
    await fill(longer, { time: 0 }, sample(9_000).slice(5_000));
    await longer.close();
    for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true });
    copyFileSync(`${database}.old`, database);
    const log = await expectWhole(folder);
    expect(log.notices).toEqual([]);
    await log.close();
  });

  test('missing: it is rebuilt', async () => {
    const { folder, database } = await filled();
    for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true });
    const log = await expectWhole(folder);
    expect(log.notices).toEqual([]);
    await log.close();
  });

  test('not a database: it is set aside and rebuilt', async () => {
    const { folder, database } = await filled();
    writeFileSync(database, 'this is not a database, and long enough to be read as one '.repeat(50));
    const log = await expectWhole(folder);
    expect(log.notices).toMatchObject([{ kind: 'database-set-aside' }]);
    await log.close();
  });

  test('damaged inside: it is set aside and rebuilt', async () => {
    const { folder, database } = await filled();
    const bytes = readFileSync(database);
    bytes.fill(0xab, 4096);
    writeFileSync(database, bytes);
    const log = await expectWhole(folder);
    expect(log.notices).toMatchObject([{ kind: 'database-set-aside' }]);
    await log.close();
  });

  test('ahead of the log, which was restored from an older copy: it is rebuilt', async () => {
    const { folder, file } = await filled();
    const text = readFileSync(file, 'utf8');
    truncateSync(file, text.indexOf('\n', text.length / 2) + 1);
    const log = await expectWhole(folder);
    expect(log.notices).toMatchObject([{ kind: 'index-rebuilding' }]);
    await log.close();
  });

  test('pointing at damaged lines: they are left out', async () => {
    const { folder, file } = await filled();
    const bytes = readFileSync(file);
    const first = bytes.indexOf(10);
    bytes.fill(0x20, 0, first);
    writeFileSync(file, bytes);
    const log = openTestLog(folder, { clock: createTestClock() });
    expect(await listed(log, { order: 'oldest-first', limit: 3 })).toEqual([2, 3]);
    await log.close();
  });
});

test('a torn tail is repaired and reported at start, and the log continues', async () => {
  const folder = temporaryFolder();
  const clock = createTestClock();
  let log = openTestLog(folder, { clock });
  await log.append(draft());
  await log.close();
  const file = join(folder, 'events', '2026-11.jsonl');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"seq":2,"ts`);
  log = openTestLog(folder, { clock });
  expect(log.notices).toMatchObject([{ kind: 'torn-tail', file: '2026-11.jsonl', bytes: 12 }]);
  expect((await log.append(draft())).seq).toBe(2);
  await log.close();
  expect(readAllLines(join(folder, 'events'))).toHaveLength(2);
});
