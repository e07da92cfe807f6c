import { codehostEventTypes } from 'svc-monitor/src/features/codehost/map-codehost.ts';
import { expect, test } from 'vitest';
import { codehostExample, codehostExamples, publishedExamples } from './codehost-variants.ts';
import { codehostHeaders, patched, trackerHeaders, withDelivery } from './examples.ts';
import { trackerExamples } from './tracker-examples.ts';

test('examples have unique names and are the same each time', () => {
  for (const examples of [codehostExamples, trackerExamples]) {
    const names = examples().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(examples()).toEqual(examples());
  }
});

test('published examples exist for all ten types, and for others', () => {
  const types = new Set(publishedExamples().map(({ type }) => type));
  for (const type of codehostEventTypes) expect(types).toContain(type);
  expect(types.size).toBeGreaterThan(40);
});

test('a patch makes a copy', () => {
  const example = { name: 'a', type: 't', payload: { deep: { keep: 1, change: 2 }, list: [1, 2] } };
  const copy = patched(example, 'b', { deep: { change: 3 }, list: [4], added: null });
  expect(copy).toEqual({
    name: 'b',
    type: 't',
    payload: { deep: { keep: 1, change: 3 }, list: [4], added: null },
  });
  expect(example.payload).toEqual({ deep: { keep: 1, change: 2 }, list: [1, 2] });
});

test('a delivery number always gives the same id', () => {
  const merge = withDelivery(codehostExample('pull_request merged'), 255);
  expect(merge.deliveryId).toBe('00000000-0000-4000-8000-0000000000ff');
  expect(codehostHeaders(merge)).toEqual({
    'x-codehost-event': 'pull_request',
    'x-codehost-delivery': merge.deliveryId,
  });
  expect(trackerHeaders(merge)['tracker-delivery']).toBe(merge.deliveryId);
});

test('an unknown example throws', () => {
  expect(() => codehostExample('nothing')).toThrow('nothing');
});
