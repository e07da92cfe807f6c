import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventLine } from '../../kernel/log/event-line.ts';
import { Rule } from './config.ts';
import {
  definitionOf,
  emptyRuleBook,
  type Firings,
  firingOf,
  foldRuleFact,
  mayFire,
  noteFiring,
  recordOf,
  startAfter,
  switchings,
} from './rules.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const rule = (atMost = 1, per = '10m', name = 'r') =>
  Rule.parse({
    name,
    when: { event: 'codehost.push' },
    then: { run: 'note' },
    limit: { atMost, per },
  });
const line = (seq: number, second: number, ticket?: string): EventLine => ({
  seq,
  ts: new Date(START + second * 1000).toISOString(),
  id: `line-${seq}`,
  schemaVersion: 1,
  event: 'codehost.push',
  source: 'codehost.webhook',
  via: 'live',
  host: { id: 'h', name: 'h' },
  scope: ticket === undefined ? {} : { ticket },
  detail: {},
});

/** Evaluates lines one after the other, as the daemon and the back-test do. */
function play(firings: Firings, limited: Rule, lines: readonly EventLine[]): string[] {
  return lines.map((seen) => {
    const verdict = mayFire(firings, limited, seen);
    if (verdict === 'fires')
      noteFiring(firings, limited.name, seen.scope.ticket, { line: seen.seq, at: Date.parse(seen.ts) });
    return verdict;
  });
}

describe('the limit', () => {
  test.each([
    ['once in ten minutes', 1, '10m', [0, 599, 600, 1199, 1200], 'fires limited fires limited fires'],
    ['twice in a minute', 2, '1m', [0, 1, 2, 60, 61, 62], 'fires fires limited fires fires limited'],
    ['a clock that was set back', 1, '10m', [5000, 0, 1], 'fires fires limited'],
  ])('%s', (_, atMost, per, seconds, expected) => {
    const lines = seconds.map((second, index) => line(index + 1, second));
    expect(play(new Map(), rule(atMost, per), lines).join(' ')).toBe(expected);
  });

  test('counts separately for each ticket and each rule', () => {
    const firings: Firings = new Map();
    const lines = [line(1, 0, 'A-1'), line(2, 1, 'A-2'), line(3, 2), line(4, 3, 'A-1'), line(5, 4)];
    expect(play(firings, rule(), lines)).toEqual(['fires', 'fires', 'fires', 'limited', 'limited']);
    expect(play(firings, rule(1, '10m', 'other'), lines)[0]).toBe('fires');
  });

  const tape = fc
    .array(fc.tuple(fc.nat(400), fc.constantFrom('A-1', 'A-2', undefined)), { maxLength: 60 })
    .map((steps) => {
      let second = 0;
      return steps.map(([pause, ticket], index) => line(index + 1, (second += pause), ticket));
    });

  test('no period of its length has more firings than it allows', () => {
    fc.assert(
      fc.property(tape, fc.integer({ min: 1, max: 4 }), (lines, atMost) => {
        const verdicts = play(new Map(), rule(atMost), lines);
        const fired = lines.filter((_, index) => verdicts[index] === 'fires');
        for (const one of fired) {
          const end = Date.parse(one.ts);
          const window = fired.filter(
            ({ ts, scope }) =>
              scope.ticket === one.scope.ticket && Date.parse(ts) <= end && Date.parse(ts) > end - 600_000,
          );
          expect(window.length).toBeLessThanOrEqual(atMost);
        }
      }),
    );
  });

  test('after a restart at any line the same lines fire, each once', () => {
    fc.assert(
      fc.property(tape, fc.nat(60), fc.nat(2), (lines, cut, atMost) => {
        const limited = rule(atMost + 1);
        const whole = play(new Map(), limited, lines).map((verdict, index) => [verdict, index]);
        const expected = whole.flatMap(([verdict, index]) => (verdict === 'fires' ? index : []));

        const book = emptyRuleBook();
        const before = lines.slice(0, cut);
        const first = play(new Map(), limited, before).flatMap((verdict, index) =>
          verdict === 'fires' ? index : [],
        );
        for (const index of first) foldRuleFact(book, fact(firingOf(limited, lines[index] ?? line(1, 0))));
        const again = lines.filter(({ seq }) => seq > book.scannedTo);
        const second = play(book.firings, limited, again).flatMap((verdict, index) =>
          verdict === 'fires' ? (again[index]?.seq ?? 0) - 1 : [],
        );
        expect([...first, ...second]).toEqual(expected);
      }),
    );
  });
});

function fact(draft: Pick<EventLine, 'event' | 'source' | 'scope' | 'detail'>, seq = 1000): EventLine {
  return { ...line(seq, 9000), ...draft };
}

describe('the state of rules in the log', () => {
  const ruleLine = (seq: number, name: string, detail: object): EventLine => ({
    ...line(seq, seq),
    source: 'monitor',
    event: `workflow.rule.${name}`,
    detail: { ...detail },
  });

  test('which are on, since when, and how far lines were evaluated', () => {
    const book = emptyRuleBook();
    const [one, other] = [rule(1, '10m', 'one'), rule(1, '10m', 'other')];
    expect(switchings(book, [one, other]).map(({ rule: name }) => name)).toEqual(['one', 'other']);
    foldRuleFact(book, ruleLine(10, 'switched_on', { rule: 'one', definition: definitionOf(one) }));
    expect(switchings(book, [one])).toEqual([]);
    expect(startAfter(book, [one])).toBe(10);
    foldRuleFact(book, fact(firingOf(one, line(20, 20, 'A-1')), 21));
    // The line is evaluated again: another rule may not have fired on it yet.
    expect(startAfter(book, [one])).toBe(19);
    foldRuleFact(book, ruleLine(31, 'scanned', { line: 30 }));
    expect(startAfter(book, [one])).toBe(30);
    expect(recordOf(book, 'one')).toMatchObject({ since: 10, fired: 1, last: { line: 20, ticket: 'A-1' } });

    foldRuleFact(book, ruleLine(40, 'switched_on', { rule: 'other', definition: definitionOf(other) }));
    expect(startAfter(book, [other])).toBe(40);
    expect(startAfter(book, [one, other])).toBe(30);
    expect(switchings(book, [rule(5, '1h', 'one')])).toMatchObject([
      { rule: 'other', definition: null },
      { rule: 'one', definition: expect.stringContaining('"1h"') },
    ]);
    foldRuleFact(book, ruleLine(50, 'switched_off', { rule: 'one' }));
    expect(recordOf(book, 'one')).toMatchObject({ definition: null, fired: 1 });
  });

  test('no other writer changes it, and no malformed line', () => {
    const book = emptyRuleBook();
    foldRuleFact(book, { ...ruleLine(1, 'scanned', { line: 30 }), source: 'cli' });
    foldRuleFact(book, ruleLine(2, 'scanned', { line: 'x' }));
    foldRuleFact(book, ruleLine(3, 'fired', { rule: 'r' }));
    foldRuleFact(book, ruleLine(4, 'switched_on', {}));
    expect(book).toEqual(emptyRuleBook());
  });
});
