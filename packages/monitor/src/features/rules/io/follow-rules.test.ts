import { join } from 'node:path';
import { createRandom, temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../../kernel/failure.ts';
import type { EventLine } from '../../../kernel/log/event-line.ts';
import type { EventLog } from '../../../kernel/log/event-log.ts';
import { createJqThreads } from '../../../kernel/log/jq-threads.ts';
import { createTestClock, draft, openTestLog, readAllLines } from '../../../kernel/log/testing/sample-log.ts';
import { topics } from '../../topics.ts';
import { Rule } from '../config.ts';
import { backTest } from './back-test.ts';
import type { Matches } from './evaluate.ts';
import { createRuleFollower } from './follow-rules.ts';

const rule = (name: string, more: object = {}) =>
  Rule.parse({ name, enabled: true, when: { event: 'codehost.push' }, then: { run: 'note' }, ...more });

/** Stands for jq: a line matches when it contains the filter's text. */
const holds: Matches = (filter, lines) => Promise.resolve(lines.map((line) => line.includes(filter)));

function setUp() {
  const folder = temporaryFolder();
  const clock = createTestClock();
  const verdicts: string[] = [];
  return {
    eventsDir: join(folder, 'events'),
    clock,
    verdicts,
    open: () => openTestLog(folder, { clock }),
    follow: (
      log: EventLog,
      rules: readonly Rule[],
      matches: Matches = holds,
      more: { now?: () => number; markEvery?: number } = {},
    ) => {
      const follower = createRuleFollower({
        rules,
        log,
        matches,
        now: () => Date.now(),
        onVerdict: (name, verdict) => verdicts.push(`${name} ${verdict}`),
        onFailure: () => undefined,
        ...more,
      });
      follower.start();
      return follower;
    },
    lines: (name: string): EventLine[] =>
      readAllLines(join(folder, 'events')).filter(({ event }) => event === `workflow.rule.${name}`),
  };
}

const firedOn = (lines: readonly EventLine[]) =>
  lines.map(({ detail }) => `${String(detail['rule'])} ${String(detail['line'])}`);

async function caughtUp(follower: ReturnType<typeof createRuleFollower>): Promise<void> {
  await until(
    () =>
      follower.report().mode === 'off' ||
      (follower.report().mode === 'following' && follower.report().behind === 0),
  );
}

test('fires once on an event after it was switched on, and on none before', async () => {
  const { open, follow, clock, lines, verdicts } = setUp();
  const log = open();
  await log.append(draft());
  const follower = follow(log, [rule('one'), rule('other', { when: { event: 'codehost.pr.*' } })]);
  await caughtUp(follower);
  const line = await log.append(draft({ scope: { ticket: 'A-1' } }));
  clock.time += 1000;
  await log.append(draft({ scope: { ticket: 'A-1' } }));
  await log.append(draft({ scope: { ticket: 'A-2' } }));
  await caughtUp(follower);
  await until(() => verdicts.length === 3);
  expect(verdicts).toEqual(['one fires', 'one limited', 'one fires']);
  expect(follower.record('one')).toMatchObject({ fired: 2, last: { ticket: 'A-2' } });
  await follower.stop();
  await log.close();
  expect(lines('fired')[0]).toMatchObject({
    deliveryId: `rule:one:${line.id}`,
    scope: { ticket: 'A-1' },
    detail: { rule: 'one', line: line.seq, run: 'note' },
  });
});

test('continues where it was: a rule switched on meanwhile does not fire on the past, a removed one is switched off', async () => {
  const { open, follow, lines, clock } = setUp();
  const log = open();
  onTestFinished(log.close);
  const first = follow(log, [rule('one')]);
  await caughtUp(first);
  await first.stop();
  const missed = await log.append(draft());
  const second = follow(log, [rule('one'), rule('new')]);
  await caughtUp(second);
  await second.stop();
  expect(firedOn(lines('fired'))).toEqual([`one ${missed.seq}`]);

  clock.time += 3_600_000;
  const third = follow(log, [rule('one', { limit: { atMost: 5 } })]);
  await caughtUp(third);
  await third.stop();
  expect(lines('switched_off').map(({ detail }) => detail['rule'])).toEqual(['new']);
  expect(lines('switched_on').map(({ detail }) => detail['rule'])).toEqual(['one', 'new', 'one']);
  const fourth = follow(log, []);
  await caughtUp(fourth);
  expect(fourth.report()).toEqual({ mode: 'off', active: 0, behind: 0, problem: null });
  await fourth.stop();
  expect(lines('switched_off')).toHaveLength(3 - 1);
});

test('never fires on events that rules caused', async () => {
  const { open, follow, verdicts } = setUp();
  const log = open();
  onTestFinished(log.close);
  const follower = follow(log, [rule('all', { when: { event: '*' }, limit: { atMost: 1000 } })]);
  await caughtUp(follower);
  await log.append(draft());
  await log.append(
    draft({ event: 'comms.attention', source: 'monitor', via: 'local', detail: { rule: 'all' } }),
  );
  await log.append(draft());
  await until(() => verdicts.length >= 2);
  await caughtUp(follower);
  await follower.stop();
  expect(verdicts).toEqual(['all fires', 'all fires']);
});

test('stopped and started at any time, repeatedly: what fired equals a back-test, each once', async () => {
  const random = createRandom(11);
  const { open, follow, clock, lines, eventsDir } = setUp();
  const rules = [
    rule('hourly', { limit: { atMost: 2, per: '1h' } }),
    rule('marked', { when: { event: 'codehost.*', filter: 'yes' }, limit: { atMost: 1, per: '5m' } }),
  ];
  for (let round = 0; round < 8; round += 1) {
    const log = open();
    const follower = follow(log, rules);
    if (round === 0) await caughtUp(follower);
    for (let count = 0; count < 40; count += 1) {
      clock.time += random.below(200_000);
      const detail = { text: random.chance(0.5) ? 'yes' : 'no' };
      await log.append(draft({ scope: { ticket: `A-${random.below(3)}` }, detail }));
      if (random.chance(0.02)) break;
    }
    // In the middle of its work, except the last time.
    if (round === 7) await caughtUp(follower);
    await follower.stop();
    await log.close();
  }
  const since = { seq: lines('switched_on').at(-1)?.seq ?? 0 };
  const tested = await backTest({ rules, eventsDir, since, matches: holds });
  const expected = tested.rules.flatMap(({ name, times }) =>
    times.flatMap(({ outcome, line }) => (outcome === 'fires' ? `${name} ${line}` : [])),
  );
  expect(expected.length).toBeGreaterThan(20);
  expect(tested.rules.every(({ limited }) => limited > 0)).toBe(true);
  expect(firedOn(lines('fired')).toSorted()).toEqual(expected.toSorted());
});

test('a filter that takes too long on an event stops only its own rule, and that is reported', async () => {
  const { open, follow, lines } = setUp();
  const log = open();
  onTestFinished(log.close);
  let asked = 0;
  const slow: Matches = async (filter, texts) => {
    if (filter !== 'slow') return holds(filter, texts);
    asked += 1;
    throw new Failure('filter-too-slow', 'The jq filter takes too long.');
  };
  const follower = follow(
    log,
    [rule('slow', { when: { event: '*', filter: 'slow' } }), rule('one', { limit: { atMost: 9 } })],
    slow,
  );
  await caughtUp(follower);
  await log.append(draft());
  await until(() => lines('failed').length === 1);
  expect(asked).toBeGreaterThan(3);
  await log.append(draft());
  await until(() => lines('fired').length === 2);
  await caughtUp(follower);
  expect(follower.report()).toMatchObject({
    active: 1,
    problem: 'the rule slow is stopped: its jq filter takes too long on one event',
  });
  await follower.stop();
  expect(lines('failed')).toHaveLength(1);
});

test('what cannot be written is written later, and meanwhile the reason is reported', async () => {
  const { open, follow, lines } = setUp();
  const log = open();
  onTestFinished(log.close);
  let full = false;
  const follower = follow(
    {
      ...log,
      appendOnce: (given) => (full ? Promise.reject(new Error('the disk is full')) : log.appendOnce(given)),
    },
    [rule('one')],
  );
  await caughtUp(follower);
  full = true;
  await log.append(draft());
  await until(() => follower.report().problem !== null);
  expect(follower.report()).toMatchObject({ problem: 'the disk is full', behind: 1 });
  full = false;
  await until(() => lines('fired').length === 1);
  await caughtUp(follower);
  expect(follower.report().problem).toBeNull();
  await follower.stop();
});

test('its position is logged now and then, so a restart does not read everything again', async () => {
  const { open, follow, lines, clock } = setUp();
  const log = open();
  onTestFinished(log.close);
  const rules = [rule('one', { when: { event: 'codehost.push', filter: 'yes' } })];
  const first = follow(log, rules, holds, { markEvery: 10 });
  await caughtUp(first);
  for (let count = 0; count < 25; count += 1) await log.append(draft());
  await caughtUp(first);
  await first.stop();
  const marks = lines('scanned').map(({ detail }) => Number(detail['line']));
  expect(marks.length).toBeGreaterThan(0);

  clock.time += 3_600_000;
  const seen: number[] = [];
  const noting: Matches = (filter, texts) => {
    seen.push(...texts.map((text) => (JSON.parse(text) as EventLine).seq));
    return holds(filter, texts);
  };
  const second = follow(log, rules, noting);
  await caughtUp(second);
  const line = await log.append(draft({ detail: { text: 'yes' } }));
  await until(() => lines('fired').length === 1);
  await second.stop();
  expect(Math.min(...seen)).toBeGreaterThan(marks.at(-1) ?? 0);
  expect(seen).toContain(line.seq);
});

test('a batch that takes more than a minute is reported as lagging', async () => {
  const { open, follow } = setUp();
  const log = open();
  onTestFinished(log.close);
  let now = 0;
  let asked = false;
  const answer = Promise.withResolvers<boolean[]>();
  const follower = follow(
    log,
    [rule('one', { when: { event: 'codehost.push', filter: 'yes' } })],
    () => {
      asked = true;
      return answer.promise;
    },
    { now: () => now },
  );
  await caughtUp(follower);
  await log.append(draft());
  await until(() => asked);
  expect(follower.report().problem).toBeNull();
  now += 60_001;
  expect(follower.report().problem).toBe('rules are 1 events behind the log');
  answer.resolve([false]);
  await caughtUp(follower);
  expect(follower.report().problem).toBeNull();
  await follower.stop();
});

test('the real jq decides, in the back-test as in the daemon', async () => {
  const { open, follow, lines, eventsDir } = setUp();
  const log = open();
  const jq = createJqThreads({ topics, answerWithinMs: WAIT_MS });
  onTestFinished(jq.close);
  const filtered = rule('large', {
    when: { event: 'codehost.push', filter: '.scope.pr > 2' },
    limit: { atMost: 99 },
  });
  const follower = follow(log, [filtered], jq.matches);
  await caughtUp(follower);
  for (const pr of [1, 2, 3, 4]) await log.append(draft({ scope: { pr } }));
  await until(() => lines('fired').length === 2);
  await follower.stop();
  await log.close();
  const { rules, complete } = await backTest({
    rules: [{ ...filtered, enabled: false }],
    eventsDir,
    since: { seq: 0 },
    matches: jq.matches,
  });
  expect(complete).toBe(true);
  expect(rules).toMatchObject([{ name: 'large', enabled: false, fires: 2, limited: 0 }]);
  expect(rules[0]?.times.map(({ actions }) => actions)).toEqual([['run note'], ['run note']]);
});
