import { expect, test } from 'vitest';
import { eventFamilies, familyOf } from '../../kernel/log/event-families.ts';
import { topics } from '../topics.ts';

test('every topic has a family, and every family a topic', () => {
  const found = new Set(topics.names.map(familyOf));
  expect(found).toEqual(new Set(eventFamilies));
  expect(familyOf('nothing.at.all')).toBeUndefined();
});
