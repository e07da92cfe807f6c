// A database that dies at a given step: what was not committed by then is lost, and nothing works any more. Every
// writing statement and every transaction has two steps: before it, and after it.
import type { StatementSync } from 'node:sqlite';
import type { Database } from '../../disk/sqlite.ts';

export type Crash = {
  step: () => void;
  happened: Promise<void>;
};

/** Dies at the `at`-th step; never when it is null. */
export function createCrash(at: number | null): Crash {
  const { promise, resolve } = Promise.withResolvers<void>();
  let steps = 0;
  return {
    happened: promise,
    step() {
      steps += 1;
      if (at === null || steps < at) return;
      resolve();
      throw new Error('crashed on purpose');
    },
  };
}

export function crashingDatabase(database: Database, { step }: Crash): Database {
  function around<T>(work: () => T): T {
    step();
    const result = work();
    step();
    return result;
  }

  return {
    prepare(sql) {
      const statement = database.prepare(sql);
      const run = statement.run.bind(statement);
      return Object.assign(statement, {
        run: (...values: Parameters<StatementSync['run']>) => around(() => run(...values)),
      });
    },
    exec: (sql) => around(() => database.exec(sql)),
    transaction: (work) => around(() => database.transaction(work)),
    close: () => database.close(),
  };
}
