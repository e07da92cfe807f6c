// jq itself over event lines. A line matches when the filter gives anything but false and null for it; a filter that
// fails on a line (it asks for what the line does not have) does not match.

/** Answers for each line whether it matches. One call for many lines: a call costs a millisecond. */
export type LineFilter = (lines: readonly string[]) => boolean[];

/** The text is no filter; the message is jq's own. */
export class JqRefused extends Error {}

/** The filter wants more memory than jq has, which cannot be used any more then. */
export class JqTooLarge extends Error {}

/** Results of one filter on one line that are looked at: bounds a filter that never stops giving. */
const MAX_RESULTS = 10_000;

export async function createJqEngine(text: string): Promise<LineFilter> {
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  const query = `any(limit(${MAX_RESULTS}; try (\n${text}\n) catch false); .)`;
  const raw = (input: string): ReturnType<typeof jq.raw> => {
    try {
      return jq.raw(input, query, ['-c']);
    } catch (error) {
      throw new JqTooLarge('the filter needs too much memory', { cause: error });
    }
  };
  const run = (lines: readonly string[]): boolean[] => {
    const { stdout, stderr, exitCode } = raw(lines.join('\n'));
    if (exitCode !== 0) throw new JqRefused(firstLine(stderr));
    const answers = stdout.split('\n').filter((answer) => answer !== '');
    // A line that the filter has taken itself gets no answer, and the others would get each other's.
    if (answers.length !== lines.length) throw new JqRefused('it reads other lines than its own (input)');
    return answers.map((answer) => answer === 'true');
  };
  run(['null', 'null']);
  return (lines) => (lines.length === 0 ? [] : run(lines));
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
