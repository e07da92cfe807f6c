// What is completed in a message to an agent: its own commands at the start, and files of its worktree after an `@`.
import type { AgentOptions } from 'svc-monitor/src/features/agents/api.ts';

export type Token = { kind: 'command' | 'file'; query: string; start: number; end: number };
export type Completion = {
  /** What replaces the token. */
  value: string;
  name: string;
  description: string;
};

const LONGEST_QUERY = 200;
const MOST_SHOWN = 8;

/** What is being written before the caret; null: nothing that can be completed. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const [, command] = /^\/(\S*)$/.exec(before) ?? [];
  if (command !== undefined) return { kind: 'command', query: command, start: 0, end: caret };
  const [, file] = /(?:^|\s)@([^\s@]*)$/.exec(before) ?? [];
  if (file === undefined || file.length > LONGEST_QUERY) return null;
  return { kind: 'file', query: file, start: caret - file.length - 1, end: caret };
}

/** Those whose name begins with the query first. None when there is nothing left to complete. */
export function commandsFor(commands: AgentOptions['commands'], query: string): Completion[] {
  const wanted = query.toLowerCase();
  const found = commands.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (found.length === 1 && found[0]?.name === query) return [];
  const rank = ({ name }: { name: string }): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return found
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST_SHOWN)
    .map(({ name, description, hint }) => ({
      value: `/${name}`,
      name: hint === null ? `/${name}` : `/${name} ${hint}`,
      description,
    }));
}

/** The files may be those of the query before, while others are being loaded. */
export function filesFor(files: readonly string[], query: string): Completion[] {
  const found = files.filter((path) => path.toLowerCase().includes(query.toLowerCase()));
  if (found.length === 1 && found[0] === query) return [];
  return found.slice(0, MOST_SHOWN).map((path) => ({
    value: /\s/.test(path) ? `@"${path}"` : `@${path}`,
    name: path,
    description: '',
  }));
}

/** The text with the completion and a space after it, and where the caret is then. */
export function completed(
  text: string,
  token: Token,
  { value }: Completion,
): { text: string; caret: number } {
  const rest = text.slice(token.end);
  const written = `${text.slice(0, token.start)}${value}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: written + rest, caret: written.length };
}
