// Work that comes round by timer: one run at a time, and a failure never ends it.
export type Rounds = {
  /** Runs now, or joins the run that is under way. */
  runNow: () => Promise<void>;
  /** A run that begins from now on: after the one that is under way, which may have looked too early. */
  runAfresh: () => Promise<void>;
  /** Begins nothing more, and resolves when the run that is under way has ended. */
  stop: () => Promise<void>;
};

/** Calls the work every so often, until the function that it returns is called. */
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
      return stopped ? undefined : runNow();
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
