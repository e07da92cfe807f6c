// A part of the daemon that is rebuilt when its part of the configuration changes.
export type Rebuilt<Part> = {
  current: () => Part;
  start: () => void;
  /** Rebuilds it if its settings have changed. If that fails, the previous one stays. */
  reconfigure: () => Promise<void>;
  stop: () => Promise<void>;
};

type Startable = { start: () => void; stop: () => Promise<void> | void };

export async function rebuilt<Part extends Startable>(
  settings: () => unknown,
  build: () => Part | Promise<Part>,
): Promise<Rebuilt<Part>> {
  let builtFrom = JSON.stringify(settings());
  let part = await build();
  let isStarted = false;
  return {
    current: () => part,
    start() {
      isStarted = true;
      part.start();
    },
    async reconfigure() {
      const now = JSON.stringify(settings());
      if (now === builtFrom) return;
      const next = await build();
      builtFrom = now;
      await part.stop();
      part = next;
      if (isStarted) part.start();
    },
    async stop() {
      await part.stop();
    },
  };
}
