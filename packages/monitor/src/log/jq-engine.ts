// jq itself over event lines. A line matches when the filter gives anything but false and null for it; a filter that
// fails on a line (it asks for what the line does not have) does not match.

/** Answers for each line whether it matches. One call for many lines: a call costs a millisecond. */
export type LineFilter = (lines: readonly string[]) => boolean[];

/** The text is no filter; the message is jq's own. */
export class JqRefused extends Error {}

/** Results of one filter on one line that are looked at: bounds a filter that never stops giving. */
const MAX_RESULTS = 10_000;

export async function createJqEngine(text: string): Promise<LineFilter> {
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  const query = `any(limit(${MAX_RESULTS}; try (\n${text}\n) catch false); .)`;
  const run = (input: string): string[] => {
    const { stdout, stderr, exitCode } = jq.raw(input, query, ['-c']);
    if (exitCode !== 0) throw new JqRefused(firstLine(stderr));
    return stdout.split('\n').filter((answer) => answer !== '');
  };
  run('null');
  return (lines) => (lines.length === 0 ? [] : run(lines.join('\n')).map((answer) => answer === 'true'));
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
