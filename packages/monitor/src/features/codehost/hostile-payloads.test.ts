// Whatever a delivery contains, mapping never throws, and its result can always be written to the log.

import { codehostExamples, trackerExamples } from '@svc/testkit';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToFit } from '../../kernel/log/cut-to-fit.ts';
import { MAX_EVENT_LINE_BYTES, parseEventDraft } from '../../kernel/log/event-line.ts';
import type { DeliveryMeta, Mapping } from '../feeds/delivery.ts';
import { topics } from '../topics.ts';
import { mapTracker } from '../tracker/map-tracker.ts';
import { codehostEventType, codehostEventTypes, mapCodehost } from './map-codehost.ts';

const meta: DeliveryMeta = { deliveryId: 'delivery-1', via: 'live' };
const codehost = codehostExamples();
const tracker = trackerExamples();

const hostileValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    [[]],
    '',
    '__proto__',
    'constructor',
    'merged',
    -1,
    1e308,
    2 ** 53,
    0.5,
    true,
  ),
  fc.constantFrom('2026-02-30T00:00:00Z', '2026-01-01', `2026-01-01T00:00:00.${'0'.repeat(5000)}Z`, 'ENG-1'),
  fc.constant('\ud800'.repeat(5000)),
  fc.constant(JSON.parse('{"__proto__":{"login":"mallory","full_name":"x/y"},"number":1}') as unknown),
);

/** A copy of a real payload in which some values, at some depth, are replaced. */
const damaged = (payloads: readonly unknown[]) =>
  fc
    .tuple(
      fc.constantFrom(...payloads),
      fc.array(fc.tuple(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), hostileValue), { maxLength: 8 }),
    )
    .map(([payload, damages]) => {
      const copy = structuredClone(payload);
      for (const [path, value] of damages) damage(copy, path, value);
      return copy;
    });

function damage(target: unknown, path: readonly number[], value: unknown): void {
  const [step = 0, ...rest] = path;
  if (typeof target !== 'object' || target === null) return;
  const keys = Object.keys(target);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined || key === '__proto__') return;
  if (rest.length === 0) Reflect.set(target, key, value);
  else damage(Reflect.get(target, key), rest, value);
}

/** Why the event of a mapping cannot be written to the log; undefined when it can. */
function obstacle(mapping: Mapping): string | undefined {
  if (!mapping.ok) return undefined;
  const parsed = parseEventDraft(topics, mapping.draft);
  if (!parsed.ok) return parsed.problem;
  const bytes = new TextEncoder().encode(JSON.stringify(cutToFit(mapping.draft))).length;
  return bytes > MAX_EVENT_LINE_BYTES ? `${bytes} bytes` : undefined;
}

const types = fc.oneof(fc.constantFrom<string>(...codehostEventTypes), fc.string());

test('code host: damaged payloads', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...codehost),
      damaged(codehost.map(({ payload }) => payload)),
      (other, payload) => {
        expect(
          obstacle(mapCodehost(codehostEventType(undefined, payload) ?? other.type, payload, meta)),
        ).toBeUndefined();
        expect(obstacle(mapCodehost(other.type, payload, meta))).toBeUndefined();
      },
    ),
    { numRuns: 500 },
  );
});

test('code host: anything at all', () => {
  fc.assert(
    fc.property(types, fc.anything({ withNullPrototype: true, withSparseArray: true }), (type, payload) => {
      codehostEventType(undefined, payload);
      expect(obstacle(mapCodehost(type, payload, meta))).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});

test('tracker: damaged payloads and anything at all', () => {
  const payloads = fc.oneof(damaged(tracker.map(({ payload }) => payload)), fc.anything());
  fc.assert(
    fc.property(payloads, (payload) => {
      expect(obstacle(mapTracker(payload, meta))).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});

test('a payload cannot change the prototype of objects', () => {
  const payload: unknown = JSON.parse(
    '{"__proto__":{"action":"closed","polluted":1},"type":"Issue","action":"update","updatedFrom":{"__proto__":{"polluted":1}}}',
  );
  mapCodehost('pull_request', payload, meta);
  mapTracker(payload, meta);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

test('a payload nested 100,000 deep is mapped', () => {
  const deep: unknown = JSON.parse(`${'{"pull_request":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  expect(obstacle(mapCodehost('pull_request', deep, meta))).toBeUndefined();
  expect(
    obstacle(mapTracker({ type: 'Issue', action: 'update', data: deep, updatedFrom: deep }, meta)),
  ).toBeUndefined();
});
