// Markdown of an agent on a terminal: lists, headings, bold and code as plain text. Code blocks stay as they are.

/** Lines for a terminal; what they contain is not cleaned. */
export function markdownLines(text: string): string[] {
  let fence: string | null = null;
  return text.split('\n').flatMap((line) => {
    const [, marks = null] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (marks !== null && (fence === null || (marks.startsWith(fence) && line.trim() === marks))) {
      fence = fence === null ? marks : null;
      return [];
    }
    return fence === null ? [plainLine(line)] : [`    ${line}`];
  });
}

function plainLine(line: string): string {
  const shown = line.replace(/^(\s*)[-*+]\s+(?=\S)/, '$1• ').replace(/^#{1,6}\s+(?=\S)/, '');
  // What is in code stays as it is.
  return shown
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.length > 2 && part.startsWith('`') && part.endsWith('`')
        ? part.slice(1, -1)
        : part.replaceAll(/\*\*(\S(?:[^*]*\S)?)\*\*/g, '$1'),
    )
    .join('');
}
