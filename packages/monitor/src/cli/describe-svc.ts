// The description of svc itself, for completion and the reference of verbs.
import { type DescribedVerb, describeProgram } from './describe-program.ts';
import { buildProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/** No verb runs, so nothing is written, read or asked. */
const noTerminal: Terminal = {
  out: () => {},
  err: () => {},
  readInput: async () => '',
  inputIsTerminal: false,
  ask: async () => undefined,
  colour: false,
  columns: 80,
  environment: {},
  home: '/',
  folder: '/',
  now: () => new Date(0),
  interrupted: new AbortController().signal,
};

export function describeSvc(): DescribedVerb {
  return describeProgram(buildProgram(noTerminal));
}
