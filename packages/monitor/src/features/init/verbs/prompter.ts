// Questions at the terminal, by @clack/prompts, which is loaded only when needed. They go to standard error, because
// standard output is for the result. Ctrl-C, Escape, Ctrl-D and the end of the input all cancel.
import { Interrupted } from '../../../cli/kit/terminal.ts';

/** The problem with the format of an answer, or undefined. Slow checks run after the question. */
export type CheckForm = (answer: string) => string | undefined;

export type Prompter = {
  /** Enter accepts the suggestion; without one the answer is empty. */
  text: (question: { message: string; suggested?: string | undefined; check: CheckForm }) => Promise<string>;
  /** The answer is not shown. */
  secret: (question: { message: string; check: CheckForm }) => Promise<string>;
  choose: (question: {
    message: string;
    options: readonly { value: string; label: string }[];
    suggested?: string | undefined;
  }) => Promise<string>;
  /** Prints the problem with an answer, on one line. */
  say: (line: string) => void;
};

const MOST_OPTIONS = 10;

export async function createPrompter(interrupted: AbortSignal): Promise<Prompter> {
  const clack = await import('@clack/prompts');
  const output = process.stderr;

  /** The library would wait forever when the input ends, so that is handled here. */
  async function asked<Value>(prompt: (signal: AbortSignal) => Promise<Value | symbol>): Promise<Value> {
    const over = new AbortController();
    const end = (): void => over.abort();
    const onKey = (_: unknown, key: { ctrl?: boolean; name?: string } | undefined): void => {
      if (key?.ctrl === true && key.name === 'd') end();
    };
    process.stdin.on('keypress', onKey).once('end', end).once('close', end);
    try {
      const answer = await prompt(AbortSignal.any([over.signal, interrupted]));
      if (clack.isCancel(answer)) throw new Interrupted();
      return answer as Value;
    } finally {
      process.stdin.off('keypress', onKey).off('end', end).off('close', end);
    }
  }

  return {
    text: ({ message, suggested, check }) =>
      asked<string>((signal) =>
        clack.text({
          message,
          output,
          signal,
          ...(suggested !== undefined && { placeholder: suggested, defaultValue: suggested }),
          validate: (answer) => check(answer?.trim() || (suggested ?? '')),
        }),
      ).then((answer) => answer.trim()),
    secret: ({ message, check }) =>
      asked<string>((signal) =>
        clack.password({
          message,
          output,
          signal,
          clearOnError: true,
          validate: (answer) => check(answer?.trim() ?? ''),
        }),
      ).then((answer) => (answer ?? '').trim()),
    choose: ({ message, options, suggested }) =>
      asked<string>((signal) =>
        clack.select({
          message,
          output,
          signal,
          maxItems: MOST_OPTIONS,
          options: options.map(({ value, label }) => ({ value, label })),
          ...(suggested !== undefined && { initialValue: suggested }),
        }),
      ),
    say: (line) => clack.log.message(line, { output }),
  };
}
