// Work that runs by a timer: one run at a time, and a failure never ends it.
export type Rounds = {
  /** Runs now, or joins the current run. */
  runNow: () => Promise<void>;
  /** A run that starts from now on: after the current one, which may have read its input too early. */
  runAfresh: () => Promise<void>;
  /** Starts nothing more, and resolves when the current run has ended. */
  stop: () => Promise<void>;
};

/** Calls the work at an interval, until the returned function is called. */
export type Repeat = (work: () => Promise<void>, periodMs: number) => () => void;

export const byTimer: Repeat = (work, periodMs) => {
  const timer = setInterval(() => void work(), periodMs).unref();
  return () => clearInterval(timer);
};

export function every(
  periodMs: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
  repeat: Repeat = byTimer,
): Rounds {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let stopped = false;
  const runNow = (): Promise<void> => {
    if (stopped) return running ?? Promise.resolve();
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const runAfresh = (): Promise<void> => {
    if (running === undefined) return runNow();
    next ??= running.then(() => {
      next = undefined;
      return runNow();
    });
    return next;
  };
  const end = repeat(runNow, periodMs);
  return {
    runNow,
    runAfresh,
    async stop() {
      stopped = true;
      end();
      await running;
    },
  };
}
