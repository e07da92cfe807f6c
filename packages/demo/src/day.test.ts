import { boardView } from 'svc-monitor/src/features/board/board-view.ts';
import { mapCodehost } from 'svc-monitor/src/features/codehost/map-codehost.ts';
import { describe, expect, it, test } from 'vitest';
import {
  clockText,
  DAY_BEGINS,
  DAY_ENDS,
  type DayRecord,
  msPerMinuteOf,
  openDay,
  readRecords,
  WAITS_FOR_YOU,
} from './day.ts';
import { pastOf } from './past.ts';
import { recordsToPlay } from './play.ts';
import { repos } from './project.ts';

const records = readRecords('day.jsonl');
const now = new Date('2026-03-02T17:00:00Z');
const dayAt = (minute: number) => openDay({ records, now, nowIs: minute, pid: 4242 });
const boardAt = (minute: number) => boardView(pastOf(dayAt(minute)).board, { all: true });

type Scene = Extract<DayRecord, { kind: 'scene' }>;
const scenes = records.filter((record): record is Scene => record.kind === 'scene');

describe('the records to play', () => {
  const lengthMs = 180_000;
  const day = dayAt(DAY_BEGINS);
  day.goLive(now.getTime(), msPerMinuteOf(lengthMs));
  const played = recordsToPlay(day);

  it('are those after nine, in order, within the length', () => {
    const facts = played.filter(({ kind }) => kind !== 'scene');
    expect(facts).toHaveLength(records.filter(({ at, kind }) => at > DAY_BEGINS && kind !== 'scene').length);
    expect(facts.length).toBeGreaterThan(300);
    const moments = played.map(({ at }) => day.timeOf(at).getTime() - now.getTime());
    expect(moments).toEqual(moments.toSorted((one, other) => one - other));
    expect(moments[0]).toBe(0);
    expect(moments.at(-1)).toBeLessThanOrEqual(lengthMs);
  });

  it('have a scene only after the events that it describes', () => {
    const indexOfScene = played.findIndex(
      (record) => record.kind === 'scene' && record.text.startsWith(`${WAITS_FOR_YOU} needs you`),
    );
    const failures = played.flatMap((record, index) => {
      if (record.kind !== 'codehost' || record.type !== 'deployment_status') return [];
      const mapped = mapCodehost('deployment_status', record.payload, {
        deliveryId: 'one',
        via: 'live',
        ticketPrefixes: ['TID'],
      });
      return mapped.ok && mapped.draft.event.endsWith('.failure') ? [index] : [];
    });
    expect(failures.filter((index) => index < indexOfScene)).toHaveLength(3);
  });

  test.each([
    [510_000, 1_000],
    [180_000, 353],
    [12_000, 24],
  ])('a day of %i ms has minutes of about %i ms', (length, minute) => {
    expect(Math.round(msPerMinuteOf(length))).toBe(minute);
  });
});

describe('the times of a record', () => {
  const opened = records.find(
    (record) => record.kind === 'codehost' && record.type === 'pull_request' && record.at > DAY_BEGINS,
  ) as DayRecord;
  const snoozed = records.find(
    (record) => record.kind === 'report' && record.event === 'comms.attention_snoozed',
  ) as DayRecord;

  it('are shifted by real minutes in the past', () => {
    const text = JSON.stringify(dayAt(DAY_ENDS).dated(opened));
    const at = new Date(now.getTime() + (opened.at - DAY_ENDS) * 60_000);
    expect(text).toContain(at.toISOString().slice(0, 19));
    expect(text).not.toContain('2026-01-');
  });

  it('are the current time when played, and later times keep their distance', () => {
    const day = dayAt(DAY_BEGINS);
    day.goLive(now.getTime(), 5);
    const at = new Date('2026-03-02T17:00:07.000Z');
    expect(day.dated(snoozed, at)).toMatchObject({ detail: { until: '2026-03-02T21:00:07.000Z' } });
  });

  it('use the pid of a running process', () => {
    const patches = dayAt(DAY_ENDS).records.map((record) => dayAt(DAY_ENDS).dated(record));
    expect(JSON.stringify(patches)).not.toContain('$pid');
    expect(JSON.stringify(patches)).toContain('"pid":4242');
  });
});

describe('the scenes', () => {
  test.each(scenes.map((scene) => [clockText(scene.at), scene] as const))(
    '%s matches the board',
    (_, { at, shows }) => {
      const statuses = new Map(boardAt(at).workers.map(({ ticket, status }) => [ticket, status]));
      for (const [ticket, status] of Object.entries(shows))
        expect([ticket, statuses.get(ticket)]).toEqual([ticket, status]);
    },
  );

  it('have one deploy that waits for a person, and one that fails and recovers', () => {
    const { attention } = boardAt(207.3);
    expect(attention.map(({ ticket, reason }) => [ticket, reason])).toContainEqual([
      WAITS_FOR_YOU,
      'deploy-budget-exhausted',
    ]);
    const shown = scenes.flatMap(({ shows }) => shows['TID-112'] ?? []);
    expect(shown).toEqual(['deploy-failed', 'done']);
  });

  it('have at least a dozen tickets, of two repositories', () => {
    const { workers } = boardAt(DAY_ENDS);
    expect(new Set(workers.map(({ ticket }) => ticket)).size).toBeGreaterThanOrEqual(12);
    expect(new Set(workers.map(({ repo }) => repo))).toEqual(new Set(repos));
  });
});

describe('every moment of the day', () => {
  it('has waves, blockers and slots as the guide describes them', () => expect(brokenRules()).toEqual([]));

  it('has scenes without the names of topics or fields', () => {
    for (const { text } of scenes)
      expect(text).not.toMatch(/\w+[._]\w+[._]|[a-z]_[a-z]|agent-needs|pr-created/);
  });
});

/** Every start of a wave or of an agent that breaks a rule. The only moments at which one can be broken. */
function brokenRules(): string[] {
  /** What the records claim, read without the reducers: a wave, a blocker and a slot as the guide describes them. */
  const plans = new Map<string, { waves: string[][]; blockedBy: Record<string, string[]>; slots: number }>();
  const verified = new Set<string>();
  const working = new Map<string, Set<string>>();
  const wrong: string[] = [];
  const atWork = ['dispatched', 'researching', 'planning', 'implementing', 'validating', 'shipping'];

  /** Proved by the board of that minute, not by what the agent reports. */
  const statusAt = (minute: number) =>
    new Map(boardAt(minute).workers.map(({ ticket, status }) => [ticket, status]));
  const isOver = (ticket: string, statuses: Map<string, string>): boolean =>
    statuses.get(ticket) === 'canceled' || (statuses.get(ticket) === 'done' && verified.has(ticket));

  for (const record of records) {
    if (record.kind === 'report' && record.event === 'orchestrator.verification.passed')
      verified.add(String(record.scope.ticket));
    if (record.kind === 'report' && record.event === 'orchestrator.run.started')
      plans.set(String(record.scope.orchestrator), {
        waves: record.detail['plan'] as string[][],
        blockedBy: record.detail['blockedBy'] as Record<string, string[]>,
        slots: Number(record.detail['maxParallel']),
      });
    if (record.kind === 'report' && record.event.startsWith('orchestrator.wave.')) {
      const { wave, tickets } = record.detail as { wave: number; tickets: string[] };
      const { waves = [] } = plans.get(String(record.scope.orchestrator)) ?? {};
      const name = `${clockText(record.at)} wave ${wave} of ${record.scope.orchestrator}`;
      if (JSON.stringify(waves[wave - 1]) !== JSON.stringify(tickets)) wrong.push(`${name}: not as planned`);
      const complete = record.event.endsWith('.started') ? waves.slice(0, wave - 1).flat() : tickets;
      const statuses = statusAt(record.at);
      for (const ticket of complete)
        if (!isOver(ticket, statuses)) wrong.push(`${name}: ${ticket} is ${statuses.get(ticket)}`);
    }
    if (record.kind !== 'signal') continue;
    const { orchestrator, ticket, patch } = record;
    const { waves, blockedBy, slots } = plans.get(orchestrator) ?? { waves: [], blockedBy: {}, slots: 0 };
    const busy = working.get(orchestrator) ?? new Set<string>();
    working.set(orchestrator, busy);
    if (patch.status !== undefined && !atWork.includes(patch.status)) busy.delete(ticket);
    if (patch.status !== 'dispatched') continue;
    busy.add(ticket);
    const name = `${clockText(record.at)} ${ticket} of ${orchestrator}`;
    const wave = waves.findIndex((tickets) => tickets.includes(ticket));
    if (patch.wave !== wave + 1) wrong.push(`${name}: in wave ${patch.wave}, planned for ${wave + 1}`);
    if (busy.size > slots) wrong.push(`${name}: ${busy.size} agents in ${slots} slots`);
    const first = new Set([...waves.slice(0, wave).flat(), ...(blockedBy[ticket] ?? [])]);
    const statuses = first.size === 0 ? new Map<string, string>() : statusAt(record.at);
    for (const before of first)
      if (!isOver(before, statuses)) wrong.push(`${name}: starts, and ${before} is ${statuses.get(before)}`);
  }

  return wrong;
}

test('a minute of the day is a time of the clock', () => {
  expect([clockText(60), clockText(97.2), clockText(570)]).toEqual(['09:00', '09:37', '17:30']);
});
