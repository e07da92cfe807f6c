// The process that svc runs in, as far as the daemon's control needs it. Passed in, so that tests bring another.

export type Host = {
  pid: number;
  /** The command that runs this svc again: node, its flags, the start file. */
  program: readonly string[];
  /** Standard output as a file descriptor. */
  standardOutput: number;
  signal: (pid: number, name: NodeJS.Signals) => void;
  onStopSignal: (listener: (name: NodeJS.Signals) => void) => void;
  /** A bug that nobody caught. */
  onFault: (listener: (error: unknown) => void) => void;
  /** Without a code: with the one that was set before. */
  exit: (code?: number) => never;
};

export const thisProcess: Host = {
  pid: process.pid,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  standardOutput: 1,
  signal: (pid, name) => void process.kill(pid, name),
  onStopSignal(listener) {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, listener);
  },
  onFault(listener) {
    process.on('uncaughtException', listener);
    process.on('unhandledRejection', listener);
  },
  exit: (code) => (code === undefined ? process.exit() : process.exit(code)),
};
