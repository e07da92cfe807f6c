// Work that comes round by timer, with nobody looking: one run at a time, a failure never ends it.
export type Rounds = {
  /** Runs now, or joins the run that is under way. */
  runNow: () => Promise<void>;
  stop: () => Promise<void>;
};

export function every(
  periodMs: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Rounds {
  let running: Promise<void> | undefined;
  const runNow = (): Promise<void> => {
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const timer = setInterval(() => void runNow(), periodMs);
  return {
    runNow,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
