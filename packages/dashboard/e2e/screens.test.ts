// Every screen shows the tape's day, in both themes and both widths: nothing sticks out, nothing goes wrong in the
// browser, and nothing stands in the way of a person who sees or presses differently.
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from './axe.ts';
import { type Size, sizes, themes } from './chromium.ts';
import { goTo, overflow, screens, settled } from './screens.ts';
import { PATIENCE_MS, withTape } from './with-tape.ts';

const tape = withTape({ past: 'end' });

beforeAll(() => tape.daemon().svc('archive', 'sweep', 'run-harbour-hours'), PATIENCE_MS);

for (const theme of themes) {
  for (const size of Object.keys(sizes) as Size[]) {
    describe(`${theme}, ${size}`, () => {
      it.each(screens)(
        'shows $name',
        async (screen) => {
          const { page, problems } = await tape.open({ theme, size });
          await goTo(page, tape.daemon().url, screen);
          await settled(page);
          expect(await axeFindings(page)).toEqual([]);
          expect(await overflow(page)).toBeLessThanOrEqual(0);
          expect(await problems()).toEqual([]);
        },
        PATIENCE_MS,
      );
    });
  }
}
