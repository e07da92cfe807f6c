// A terminal for running verbs inside a test: everything printed is kept, nothing of the machine is seen.
import { temporaryFolder } from './temporary-folder.ts';

export function testTerminal(
  given: { environment?: Record<string, string>; input?: string; now?: string } = {},
) {
  const home = temporaryFolder();
  const out: string[] = [];
  const err: string[] = [];
  return {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    readInput: async () => given.input ?? '',
    inputIsTerminal: false,
    colour: false,
    environment: { HOME: home, ...given.environment },
    home,
    folder: home,
    now: () => new Date(given.now ?? '2026-01-02T03:04:05.678Z'),
    interrupted: new AbortController().signal,
    /** What was printed, by stream. */
    printed: () => out.join('\n'),
    complained: () => err.join('\n'),
  };
}
