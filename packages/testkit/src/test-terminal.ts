// A terminal for running verbs in a test: the output is kept, and nothing of the machine is visible.
import { temporaryFolder } from './temporary-folder.ts';

export function testTerminal(
  given: {
    environment?: Record<string, string>;
    input?: string;
    now?: string;
    /** Its width. */
    columns?: number;
    /** The user's answers to the questions in turn; undefined is Ctrl-D. */
    answers?: readonly (string | undefined)[];
  } = {},
) {
  const home = temporaryFolder();
  const out: string[] = [];
  const err: string[] = [];
  const questions: string[] = [];
  return {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    readInput: async () => given.input ?? '',
    inputIsTerminal: given.answers !== undefined,
    ask: async (question: string) => given.answers?.[questions.push(question) - 1],
    colour: false,
    columns: given.columns ?? 80,
    environment: { HOME: home, ...given.environment },
    home,
    folder: home,
    now: () => new Date(given.now ?? '2026-01-02T03:04:05.678Z'),
    interrupted: new AbortController().signal,
    /** The output, by stream. */
    printed: () => out.join('\n'),
    complained: () => err.join('\n'),
    /** The questions. */
    questions,
  };
}
