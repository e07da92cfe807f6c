// A command of svc in this process, for what is not about the process: it answers the same and costs a tenth.
import { testTerminal } from '@svc/testkit';
import { runCommandLine } from '../src/cli/run.ts';

export function svcInProcess(place: { home: string; folder: string; environment: Record<string, string> }) {
  const blank = testTerminal();
  return async (...words: string[]) => {
    let out = '';
    let err = '';
    const terminal = {
      ...blank,
      ...place,
      now: () => new Date(),
      out: (line: string) => void (out += `${line}\n`),
      err: (line: string) => void (err += `${line}\n`),
    };
    const code = await runCommandLine(terminal, words);
    return { code, out, err };
  };
}
