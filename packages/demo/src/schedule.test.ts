import { boardView, mapCodehost } from '@svc/core';
import { describe, expect, it, test } from 'vitest';
import { pastOf } from '../../testkit/src/tape/past.ts';
import { repos } from '../../testkit/src/tape/product.ts';
import { teamDay } from '../../testkit/src/tape/team-day.ts';
import { clockText, DAY_BEGINS, DAY_ENDS, scenes, WAITS_FOR_YOU } from './scenes.ts';
import { msPerMinuteOf, scheduleOf } from './schedule.ts';

const dayAt = (minute: number) =>
  teamDay({ seed: 1, now: new Date('2026-03-02T17:00:00Z'), nowIs: minute, livingPid: 1 });
const boardAt = (minute: number) => boardView(pastOf(dayAt(minute)).board, { all: true });

describe('the schedule', () => {
  const { facts } = dayAt(DAY_BEGINS);
  const steps = scheduleOf({ facts, scenes, lengthMs: 180_000 });

  it('has what happens after nine, in the order of time, within its length', () => {
    const told = steps.filter((step) => 'fact' in step);
    expect(told).toHaveLength(facts.filter(({ at }) => at > DAY_BEGINS).length);
    expect(told.length).toBeGreaterThan(300);
    const moments = steps.map(({ afterMs }) => afterMs);
    expect(moments).toEqual(moments.toSorted((one, other) => one - other));
    expect(moments[0]).toBe(0);
    expect(moments.at(-1)).toBeLessThanOrEqual(180_000);
  });

  it('says a scene only after what it speaks of', () => {
    const indexOfScene = steps.findIndex(
      (step) => 'scene' in step && step.scene.says.startsWith(`${WAITS_FOR_YOU} needs you`),
    );
    const failures = steps.flatMap((step, index) => {
      if (!('fact' in step) || step.fact.way !== 'codehost' || step.fact.type !== 'deployment_status')
        return [];
      const payload = step.fact.payload(new Date());
      const mapped = mapCodehost('deployment_status', payload, {
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
  ])('a day of %i ms has minutes of about %i ms', (lengthMs, minute) => {
    expect(Math.round(msPerMinuteOf(lengthMs))).toBe(minute);
  });
});

describe('the scenes', () => {
  test.each(scenes.map((scene) => [clockText(scene.minute), scene] as const))(
    '%s is so on the board',
    (_, { minute, shows }) => {
      const statuses = new Map(boardAt(minute).workers.map(({ ticket, status }) => [ticket, status]));
      for (const [ticket, status] of Object.entries(shows))
        expect([ticket, statuses.get(ticket)]).toEqual([ticket, status]);
    },
  );

  it('has one deploy that waits for a person, and one that fails and comes good without', () => {
    const { attention } = boardAt(207.3);
    expect(attention.map(({ ticket, reason }) => [ticket, reason])).toContainEqual([
      WAITS_FOR_YOU,
      'deploy-budget-exhausted',
    ]);
    const shown = scenes.flatMap(({ shows }) => shows['TID-112'] ?? []);
    expect(shown).toEqual(['deploy-failed', 'done']);
  });

  it('is about a dozen tickets and more, of two repositories', () => {
    const { workers } = boardAt(DAY_ENDS);
    expect(new Set(workers.map(({ ticket }) => ticket)).size).toBeGreaterThanOrEqual(12);
    expect(new Set(workers.map(({ repo }) => repo))).toEqual(new Set(repos));
  });
});

test('a minute of the day is a time of the clock', () => {
  expect([clockText(60), clockText(97.2), clockText(570)]).toEqual(['09:00', '09:37', '17:30']);
});
