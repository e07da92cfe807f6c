// One question to the person at the terminal. It goes to standard error, so that standard output stays the result.
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Undefined when the input ends, or the person interrupts, before there is a line. */
export async function askPerson(question: string, interrupted: AbortSignal): Promise<string | undefined> {
  process.stderr.write(question);
  // The terminal stays as it is: it edits the line itself, and Ctrl-C reaches the process.
  const lines = createInterface({ input: process.stdin, terminal: false, signal: interrupted });
  try {
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    await once(lines, 'close');
    return answer;
  } finally {
    lines.close();
  }
}
