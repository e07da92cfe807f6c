// A part of the daemon that is built again when the part of the configuration that it is made from changes.
export type Rebuilt<Part> = {
  current: () => Part;
  start: () => void;
  /** Builds it again if its settings are others now. One that cannot be built leaves the one before. */
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
