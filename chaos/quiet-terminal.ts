// A terminal for verbs that a chaos script runs in separate processes: only errors are shown.
import { homedir } from 'node:os';
import type { Terminal } from '../packages/monitor/src/cli/kit/terminal.ts';

export const quietTerminal: Terminal = {
  out: () => undefined,
  err: (text) => void process.stderr.write(`${text}\n`),
  readInput: async () => '',
  inputIsTerminal: false,
  ask: async () => undefined,
  colour: false,
  columns: 80,
  environment: process.env,
  home: homedir(),
  folder: process.cwd(),
  now: () => new Date(),
  interrupted: new AbortController().signal,
};
