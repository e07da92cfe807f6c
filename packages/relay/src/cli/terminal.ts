// The command's access to the outside: streams and environment. Passed in, so tests need no process.
export type Terminal = {
  out: (text: string) => void;
  err: (text: string) => void;
  environment: Readonly<Record<string, string | undefined>>;
  /** Resolves when the process is asked to stop. */
  stopped: Promise<string>;
};

// The version of this build; the bundler inserts it from version.txt.
declare const __SVC_VERSION__: string | undefined;

export const VERSION: string = typeof __SVC_VERSION__ === 'string' ? __SVC_VERSION__ : '0.0.0-source';
