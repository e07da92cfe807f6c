// Questions to the person at the terminal, by @clack/prompts, which is loaded only when somebody is asked. They
// go to standard error, so that standard output stays the result. Ctrl-C, Escape, Ctrl-D and the end of the input
// all end the asking.
import { Interrupted } from '../terminal.ts';

/** What is wrong with the form of an answer, or undefined. Whatever takes longer is checked after the question. */
export type CheckForm = (answer: string) => string | undefined;

export type Prompter = {
  /** Enter takes the suggestion; without one it is an empty answer. */
  text: (question: { message: string; suggested?: string | undefined; check: CheckForm }) => Promise<string>;
  /** Nothing of the answer is shown. */
  secret: (question: { message: string; check: CheckForm }) => Promise<string>;
  choose: (question: {
    message: string;
    options: readonly { value: string; label: string }[];
    suggested?: string | undefined;
  }) => Promise<string>;
  /** One line: that an answer is being looked at, or what is wrong with it. */
  say: (line: string) => void;
};

const MOST_OPTIONS = 10;

export async function createPrompter(interrupted: AbortSignal): Promise<Prompter> {
  const clack = await import('@clack/prompts');
  const output = process.stderr;

  /** A prompt of the library waits for ever when the input ends; it is told here. */
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
