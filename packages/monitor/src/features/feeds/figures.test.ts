import { expect, test } from 'vitest';
import { createFigures } from './io/inbox.ts';

test('three wrong signatures in a row are suspicious, and a verified one resets the count', () => {
  const figures = createFigures(() => 1_800_000_000_000);
  figures.noteUnauthorised(false);
  figures.note('malformed');
  figures.noteUnauthorised(false);
  expect(figures.unauthorised()).toBe('no');
  figures.noteUnauthorised(false);
  expect(figures.unauthorised()).toBe('rewritten-or-signed-otherwise');
  figures.noteUnauthorised(true);
  expect(figures.unauthorised()).toBe('signed-otherwise');
  figures.note('duplicate');
  expect(figures.unauthorised()).toBe('no');
  expect(figures.report()).toMatchObject({
    deliveries: { duplicate: 1, malformed: 1, unauthorised: { exact: 1, reserialised: 3 } },
    unauthorisedLastHour: { exact: 1, reserialised: 3 },
  });
});
