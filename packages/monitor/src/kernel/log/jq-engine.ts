// Runs jq over events. An event matches when the filter returns anything but false and null; a filter that fails on an
// event (it reads a field that the event does not have) does not match.

/** Whether each line matches. One call for many lines: a call costs a millisecond. */
export type LineFilter = (lines: readonly string[]) => boolean[];

/** The text is not a filter; the message is jq's own. */
export class JqRefused extends Error {}

/** The filter needs more memory than jq has; jq cannot be used after that. */
export class JqTooLarge extends Error {}

/** Results of one filter on one line that are read: bounds a filter that never stops. */
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
    // A line that the filter consumed itself has no result, so the others would get the wrong ones.
    if (answers.length !== lines.length) throw new JqRefused('it reads other events with input or inputs');
    return answers.map((answer) => answer === 'true');
  };
  run(['null', 'null']);
  return (lines) => (lines.length === 0 ? [] : run(lines));
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
