import { codehostExamples, publishedExamples } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { codehostEventType, codehostEventTypes } from './map-codehost.ts';

const ten: readonly string[] = codehostEventTypes;

test('the header decides, whatever the payload', () => {
  expect(codehostEventType('workflow_run', { pull_request: {} })).toBe('workflow_run');
  expect(codehostEventType('push', null)).toBe('push');
  expect(codehostEventType('Not A Type', { deployment_status: {} })).toBeUndefined();
});

describe('without the header the shape decides', () => {
  test.each(codehostExamples())('$name', ({ type, payload }) => {
    expect(codehostEventType(undefined, payload)).toBe(type);
  });

  test('no other type is mistaken for one of the ten', () => {
    const others = publishedExamples().filter(({ type }) => !ten.includes(type));
    const mistaken = others.filter(
      ({ type, payload }) => (codehostEventType(undefined, payload) ?? type) !== type,
    );
    expect(others.length).toBeGreaterThan(100);
    expect(mistaken.map(({ name }) => name)).toEqual([]);
  });
});

test.each([
  null,
  [],
  'push',
  42,
  {},
  { action: 'opened' },
  { pull_request: null, number: 1 },
  { ref: 1, before: 2, after: 3 },
])('the type of %j is unknown', (payload) => {
  expect(codehostEventType(undefined, payload)).toBeUndefined();
});
