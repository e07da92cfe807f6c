// Counts from the index compared with counting the lines themselves, over stored blocks and the open one.
import { createRandom, temporaryFolder } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { CountQuery } from './count-lines.ts';
import type { EventCounts } from './event-counts.ts';
import { familyOf } from './event-families.ts';
import { matchesFilter } from './event-filter.ts';
import { indexed } from './testing/indexed.ts';
import { createTestClock, draft, openTestLog, readAllLines, START } from './testing/sample-log.ts';

const MINUTE = 60_000;
const events = [
  'codehost.push',
  'codehost.pr.merged',
  'tracker.issue.created',
  'orchestrator.worker.updated',
  'comms.attention',
  'monitor.daemon.started',
];

async function filledLog(lines: number) {
  const folder = temporaryFolder();
  const clock = createTestClock();
  const random = createRandom(3);
  const log = openTestLog(folder, { clock });
  onTestFinished(log.close);
  for (let count = 0; count < lines; count += 250) {
    const some = Array.from({ length: Math.min(250, lines - count) }, () =>
      draft({
        event: random.pick(events),
        scope: { ticket: `ENG-${random.below(5)}`, repo: random.pick(['acme/web', 'acme/api']) },
      }),
    );
    await Promise.all(some.map((one) => log.append(one)));
    clock.time += random.below(5) * MINUTE;
  }
  await indexed(log);
  return { log, folder, end: clock.time };
}

function counted(folder: string, { from, to, buckets, since, until, ...filter }: CountQuery) {
  const bucketMs = Math.ceil((to - from) / buckets);
  const found = Array.from({ length: buckets }, () => new Map<string, number>());
  for (const line of readAllLines(`${folder}/events`)) {
    const time = Date.parse(line.ts);
    const isAfter = since === undefined || ('seq' in since ? line.seq > since.seq : time >= since.time);
    const isBefore = until === undefined || ('seq' in until ? line.seq < until.seq : time < until.time);
    if (!isAfter || !isBefore || !matchesFilter(line, filter)) continue;
    const bucket = found[Math.min(buckets - 1, Math.max(0, Math.floor((time - from) / bucketMs)))];
    const family = familyOf(line.event) ?? '';
    bucket?.set(family, (bucket.get(family) ?? 0) + 1);
  }
  return found.map((byFamily) => Object.fromEntries(byFamily));
}

const plain = ({ buckets }: EventCounts) => buckets.map(({ families }) => families);

test('the right counts for every condition, with borders that cut blocks', async () => {
  const { log, folder, end } = await filledLog(10_500);
  const whole = { from: START, to: end + 1, since: { time: START }, until: { time: end + 1 } };
  const queries: CountQuery[] = [
    { ...whole, buckets: 1 },
    { ...whole, buckets: 2 },
    { ...whole, buckets: 60 },
    { ...whole, buckets: 200, ticket: 'ENG-3' },
    { ...whole, buckets: 7, repo: 'acme/api', topics: new Set(['codehost.push', 'tracker.issue.created']) },
    { ...whole, buckets: 5, ticket: 'NONE-1' },
    { ...whole, buckets: 5, topics: new Set(['archive.swept']) },
    {
      from: START + 20 * MINUTE,
      to: START + 40 * MINUTE,
      since: { time: START + 20 * MINUTE },
      until: { time: START + 40 * MINUTE },
      buckets: 10,
    },
    { from: START, to: end, since: { seq: 4_000 }, until: { seq: 9_000 }, buckets: 3 },
  ];
  for (const query of queries) {
    const counts = await log.counts(query);
    expect(counts.complete).toBe(true);
    expect(plain(counts)).toEqual(counted(folder, query));
    expect(counts.total).toBe(counts.buckets.reduce((sum, { count }) => sum + count, 0));
    expect(counts.buckets).toHaveLength(query.buckets);
  }
  expect((await log.counts({ ...whole, buckets: 1 })).total).toBe(10_500);
});

test('when a line was accepted', async () => {
  const { log } = await filledLog(600);
  const [first] = (await log.list({ order: 'oldest-first', limit: 1 })).entries;
  await log.ready;
  expect(log.timeOf(1)).toBe(Date.parse(first?.line.ts ?? ''));
  expect(log.timeOf(601)).toBeUndefined();
});

test('an empty log has empty buckets', async () => {
  const log = openTestLog(temporaryFolder());
  onTestFinished(log.close);
  const counts = await log.counts({ from: 0, to: 1_000, since: { time: 0 }, buckets: 4 });
  expect(counts).toMatchObject({ total: 0, complete: true, bucketMs: 250 });
  expect(plain(counts)).toEqual([{}, {}, {}, {}]);
});
