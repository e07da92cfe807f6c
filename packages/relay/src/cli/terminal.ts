// The command's access to the outside: streams and environment. Passed in, so tests need no process.
export type Terminal = {
  out: (text: string) => void;
  err: (text: string) => void;
  environment: Readonly<Record<string, string | undefined>>;
  /** Resolves when the process is asked to stop. */
  stopped: Promise<string>;
};
