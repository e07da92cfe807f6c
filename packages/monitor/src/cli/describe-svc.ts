// The description of svc itself, for completion and the reference of verbs, and the help of all verbs, for the build.
import { type DescribedVerb, describeProgram, everyVerb } from './describe-program.ts';
import type { RecordedHelp } from './kit/recorded-help.ts';
import type { Terminal } from './kit/terminal.ts';
import { buildProgram } from './program.ts';
import { runCommandLine } from './run.ts';

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

/** The help of every verb, as it is printed. */
export async function helpOfSvc(): Promise<RecordedHelp> {
  const texts: Record<string, string> = {};
  for (const { path } of everyVerb(await describeSvc())) {
    const lines: string[] = [];
    const terminal = { ...noTerminal, out: (text: string) => void lines.push(text) };
    await runCommandLine(terminal, [...path, '--help']);
    texts[path.join(' ')] = lines.join('\n');
  }
  return texts;
}

export async function describeSvc(): Promise<DescribedVerb> {
  return describeProgram(await buildProgram(noTerminal));
}
