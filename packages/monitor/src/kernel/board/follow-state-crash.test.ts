// Killed between any two steps, any number of times: the board and the effects match the log.
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crashingDatabase, createCrash } from './testing/crashing-database.ts';
import { createSmallLog, smallLines } from './testing/small-log.ts';
import { foldAll, follow, openStateFiles } from './testing/state-files.ts';

const line = fc.record({
  ticket: fc.constantFrom('A-1', 'A-2', 'A-3'),
  ask: fc.constantFrom(0, 0, 1, 2),
  broken: fc.constantFrom(false, false, false, true),
});
/** Lines that exist at a start, lines that come later, and the step at which the crash happens. */
const run = fc.record({
  before: fc.array(line, { maxLength: 15 }),
  later: fc.array(line, { maxLength: 15 }),
  crashAt: fc.integer({ min: 1, max: 60 }),
  everyLineAlone: fc.boolean(),
});

test('each effect is passed on exactly once across any crashes', async () => {
  const folder = temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 12 }),
      async (lives, snapshotEvery) => {
        runs += 1;
        const file = join(folder, `${runs}.db`);
        const all = smallLines(lives.flatMap(({ before, later }) => [...before, ...later]));
        const log = createSmallLog([]);
        openStateFiles({ file }).close();
        let from = 0;
        const next = (count: number) => all.slice(from, (from += count));

        for (const { before, later, crashAt, everyLineAlone } of lives) {
          log.append(next(before.length));
          const crash = createCrash(crashAt);
          const files = tryToOpen(file, (database) => crashingDatabase(database, crash));
          if (files === null) {
            log.append(next(later.length));
            continue;
          }
          const state = follow({ ...files, outbox: countingTwice(files.outbox) }, { log, snapshotEvery });
          await Promise.race([state.ready, crash.happened]);
          for (const one of everyLineAlone
            ? next(later.length).map((each) => [each])
            : [next(later.length)]) {
            log.append(one);
            await Promise.race([state.reached(log.lastSeq()), crash.happened]);
          }
          await state.stop();
          files.close();
        }

        const files = openStateFiles({ file, lastSeq: log.lastSeq() });
        const state = follow({ ...files, outbox: countingTwice(files.outbox) }, { log, snapshotEvery });
        await state.ready;
        await state.stop();
        const { board, keys } = foldAll(all);
        expect(state.board()).toEqual(board);
        expect(files.keys()).toEqual(keys);
        expect(files.outbox.cursor()).toBe(all.length);
        files.close();
      },
    ),
    { numRuns: 60 },
  );
});

/** Null when the crash came while opening: nothing ran then. */
function tryToOpen(file: string, wrap: Parameters<typeof openStateFiles>[0]['wrap']) {
  try {
    return openStateFiles({ file, ...(wrap && { wrap }), lastSeq: Number.MAX_SAFE_INTEGER });
  } catch (error) {
    if (error instanceof Error && error.message === 'crashed on purpose') return null;
    throw error;
  }
}

/** The outbox ignores a row that it has; here that counts as a failure. */
function countingTwice(outbox: ReturnType<typeof openStateFiles>['outbox']): typeof outbox {
  return {
    ...outbox,
    accept(effects, cursor) {
      for (const { key } of effects) expect(outbox.find(key)).toBeNull();
      return outbox.accept(effects, cursor);
    },
  };
}
