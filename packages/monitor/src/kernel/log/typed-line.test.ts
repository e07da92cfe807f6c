import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { detailOf, topics, typedLine } from '../../features/topics.ts';
import { draft, type EventDraft } from './event-line.ts';
import { isIn } from './typed-line.ts';

describe('a producer', () => {
  test('writes only the detail of its topic', () => {
    expect(draft('orchestrator.wave.started', { orchestrator: 'run-1' }, { wave: 1 })).toEqual({
      event: 'orchestrator.wave.started',
      source: 'monitor',
      via: 'local',
      scope: { orchestrator: 'run-1' },
      detail: { wave: 1 },
    } satisfies EventDraft);
    // @ts-expect-error a wave has a number
    draft('orchestrator.wave.started', {}, {});
    // @ts-expect-error there is no such field
    draft('orchestrator.wave.started', {}, { wave: 1, reasn: 'late' });
    // @ts-expect-error there is no such topic
    draft('orchestrator.wave.begun', {}, { wave: 1 });
    // @ts-expect-error severities are a closed list
    draft('comms.attention', {}, { reason: 'late', message: 'Late', severity: 'dreadful' });
  });

  test('an event of one topic does not accept the detail of another', () => {
    const base = { source: 'cli', via: 'local', scope: {} } as const;
    // @ts-expect-error this is the detail of a finding
    const wrong: EventDraft = { ...base, event: 'orchestrator.wave.started', detail: { title: 'x' } };
    expect(wrong.event).toBe('orchestrator.wave.started');
  });
});

describe('a line read from disk', () => {
  const line = (event: string, detail: Record<string, unknown>) => ({ event, detail });

  test('stays the same object if its detail is valid, whatever else is in it', () => {
    const whole = line('comms.attention', { reason: 'late', message: 'Late', severity: 'low', newer: [1] });
    expect(typedLine(whole)).toBe(whole);
    const cut = line('orchestrator.worker.status_changed', { cut: ['detail'] });
    expect(typedLine(cut)).toBe(cut);
  });

  test('loses invalid fields, and no others', () => {
    const odd = line('codehost.pr.opened', {
      title: 7,
      url: 'u',
      draft: 'no',
      labels: ['a', 1],
      mergedAt: 'x',
    });
    expect(typedLine(odd)?.detail).toEqual({ url: 'u', labels: ['a'] });
    expect(odd.detail).toHaveProperty('title', 7);
  });

  test('has no type when its topic is unknown', () => {
    expect(typedLine(line('codehost.pr.opned', {}))).toBeUndefined();
    expect(typedLine(line('__proto__', {}))).toBeUndefined();
  });

  test('has the type of its topic', () => {
    const typed = typedLine(line('orchestrator.worker.status_changed', { from: 'merged', to: 'deploying' }));
    if (typed?.event !== 'orchestrator.worker.status_changed') throw new Error('it is of that topic');
    // @ts-expect-error no status has this field
    expect(typed.detail.reasn).toBeUndefined();
    expect(typed.detail.to satisfies string | undefined).toBe('deploying');
    expect(isIn(typed, 'orchestrator.worker')).toBe(true);
    expect(isIn(typed, 'orchestrator.work')).toBe(false);
    expect(detailOf(typed, ['codehost.push'])).toBeUndefined();
    expect(detailOf(typed, ['orchestrator.worker.status_changed'])?.to).toBe('deploying');
  });

  test('of any detail, exactly the valid parts are kept', () => {
    const names = [...new Set(topics.names.flatMap((topic) => Object.keys(topics.schemaOf(topic).shape)))];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('2026-01-01T00:00:00Z', 'high', 'done', 'a', ['a'], [1], {}, 0, 1, -1, 0.5, 2 ** 53),
    );
    const detail = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(fc.constantFrom(...topics.names), detail, (event, given) => {
        const { shape }: { shape: Record<string, z.ZodType> } = topics.schemaOf(event);
        const fits = (name: string, field: unknown) => shape[name]?.safeParse(field).success ?? true;
        const kept: Record<string, unknown> = { ...typedLine({ event, detail: given })?.detail };
        for (const [name, field] of Object.entries(kept)) expect(fits(name, field)).toBe(true);
        for (const [name, field] of Object.entries(given))
          if (fits(name, field)) expect(kept[name]).toEqual(field);
      }),
      { numRuns: 500 },
    );
  });
});
