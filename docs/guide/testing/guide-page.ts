// Reads a page of the guide: commands, their expected output, and what others do meanwhile.
//
//   ```sh        commands that are run
//   ```text      directly after them: their output; … matches anything, and any lines when alone on a line
//   ```console   commands that cannot be run on a test machine
//   ```json      a piece of configuration; it must parse
//   <!-- world: merge 42 -->      something that others do: a merge at the code host, a worker that starts
//   <!-- machine: second -->      what follows runs on another machine

export type Step =
  | { kind: 'run'; commands: string; prints: string | undefined; line: number }
  | { kind: 'world'; what: string; line: number }
  | { kind: 'machine'; name: string; line: number }
  | { kind: 'shown'; commands: string; line: number };

export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const [, word, value = ''] = /^<!-- (world|machine): (.*?) -->$/.exec(line) ?? [];
    if (word === 'world') steps.push({ kind: 'world', what: value, line: index + 1 });
    if (word === 'machine') steps.push({ kind: 'machine', name: value, line: index + 1 });
    const [, indent = '', tag] = /^( *)```(\S*)/.exec(line) ?? [];
    if (tag === undefined) continue;
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${indent}\`\`\``));
    if (end === -1) throw new Error(`line ${index + 1}: a fence that does not end`);
    const body = lines.slice(index + 1, end).map((text) => text.slice(indent.length));
    addBlock(steps, tag, body.join('\n'), index + 1);
    index = end;
  }
  return steps;
}

function addBlock(steps: Step[], tag: string, body: string, line: number): void {
  if (tag === 'sh') steps.push({ kind: 'run', commands: body, prints: undefined, line });
  else if (tag === 'console') steps.push({ kind: 'shown', commands: body, line });
  else if (tag === 'text') {
    const last = steps.at(-1);
    if (last?.kind !== 'run' || last.prints !== undefined)
      throw new Error(`line ${line}: an output without commands before it`);
    last.prints = body;
  } else if (tag === 'json') {
    JSON.parse(body);
  } else {
    throw new Error(
      `line ${line}: the guide has fences sh, text, console and json, not ${JSON.stringify(tag)}`,
    );
  }
}

/** Whether the output matches; `…` is any text, or any lines when alone on a line. */
export function isAsShown(shown: string, printed: string): boolean {
  const lines = shown.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\n)*?';
    return `${line.trimEnd().split('…').map(escaped).join('.*?')} *\n`;
  });
  return new RegExp(`^${lines.join('')}$`).test(`${printed.trimEnd()}\n`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
