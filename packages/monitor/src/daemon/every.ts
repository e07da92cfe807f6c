// Work that comes round by timer, with nobody looking: one run at a time, a failure never ends it.
export type Rounds = {
  /** Runs now, or joins the run that is under way. */
  runNow: () => Promise<void>;
  /** A run that begins from now on: after the one that is under way, which may have looked too early. */
  runAfresh: () => Promise<void>;
  stop: () => Promise<void>;
};

export function every(
  periodMs: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
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
  const timer = setInterval(() => void runNow(), periodMs);
  return {
    runNow,
    runAfresh,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
