// Inserts the six variables into a configured command before the shell sees it: `${BRANCH_NAME}` becomes its value, as
// one word, whatever quotes surround it. A value with special characters never becomes part of the command's text.
// Instead, the variable is inserted, in the quotes that the shell needs at that position to only expand it; the value
// is in the environment of the step. So a mistake in parsing the quotes can never execute a value.
//
//   unquoted  '…'  "…"      the value, as one word or as a part of one
//   $(…)  `…`               the same inside
//   $((…))  <<END           the shell's own expansion, unchanged
//   <<'END'                 the value, if it has no special characters; else the variable stays as it is
//   sh -c, eval, node -e    code for another program: the same. Another shell takes the variable from its environment.
import type { SetupVariables } from '../context/setup-variables.ts';

type Kind = 'command' | 'double' | 'backticks' | 'arithmetic';
type Frame = {
  kind: Kind;
  /** The current word, the one before it, and the first of the simple command. */
  word: string;
  before: string;
  first: string;
};
type HereDocument = { end: string; quoted: boolean; tabs: boolean };

const token = {
  command:
    /\\[^]|'[^']*'?|"|`|\$\(\(|\$\(|[()]|\$\{(\w+)\}|\$\$|<<<|<<(-?)[ \t]*((?:\\.|'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()'"\\])+)|\n|[^]/y,
  double: /\\[^]|"|`|\$\(\(|\$\(|\$\{(\w+)\}|\$\$|[^]/y,
} as const;
const reference = /\$\{(\w+)\}/g;
/** Without special meaning to any shell, in any quotes. */
const meansNothing = /^[\w./,:@+-]*$/;
const takesCode = /^(?:-[A-Za-z]*[ce]|eval)$/;

/** The command as the shell gets it, with the variables in its environment. */
export function fillCommand(command: string, variables: SetupVariables): string {
  const frames: Frame[] = [newFrame('command')];
  const waiting: HereDocument[] = [];
  let filled = '';
  let at = 0;

  while (at < command.length) {
    const frame = top(frames);
    const match = read(frame.kind === 'double' ? token.double : token.command, command, at);
    const [text] = match;
    at += text.length;
    if (frame.kind === 'double') filled += inDouble(text, match[1]);
    else if (text.startsWith('#') && frame.word === '' && frame.kind === 'command') {
      const end = command.indexOf('\n', at);
      filled += command.slice(at - 1, end < 0 ? command.length : end);
      at = end < 0 ? command.length : end;
    } else {
      filled += inCommand(frame, text, match);
      if (text === '\n') takeHereDocuments();
    }
  }
  return filled;

  function inDouble(text: string, name: string | undefined): string {
    if (text === '"') frames.pop();
    else if (text === '$((') frames.push(newFrame('arithmetic'));
    else if (text === '$(') frames.push(newFrame('command'));
    else if (text === '`') toggleBackticks();
    if (name === undefined || !isVariable(name, variables)) return text;
    return isCode(under(frames), name) ? `\\${text}` : text;
  }

  function inCommand(frame: Frame, text: string, [, name, tabs, end]: RegExpExecArray): string {
    if (name !== undefined && isVariable(name, variables)) {
      frame.word += text;
      if (frame.kind === 'arithmetic') return text;
      return isCode(frame, name) ? `\\${text}` : `"${text}"`;
    }
    if (end !== undefined && frame.kind === 'command') {
      const plain = end.replaceAll(/['"\\]/g, '');
      waiting.push({ end: plain, quoted: plain !== end, tabs: tabs === '-' });
    }
    if (/^[\s;&|(]$/.test(text)) nextWord(frame, !/[ \t]/.test(text));
    else frame.word += text;
    if (text === '"') frames.push(newFrame('double'));
    else if (text === '`') toggleBackticks();
    else if (text === '$((') frames.push(newFrame('arithmetic'));
    else if (text === '$(') frames.push(newFrame('command'));
    else if (text === '(') frames.push(newFrame(frame.kind));
    else if (text === ')') close(frame);
    if (!text.startsWith("'")) return text;
    return text.replaceAll(reference, (found, one: string) =>
      isVariable(one, variables) && !isCode(frame, one) ? `'"${found}"'` : found,
    );
  }

  /** The bodies of the here-documents that the previous line started, up to their last lines. */
  function takeHereDocuments(): void {
    for (const { end, quoted, tabs } of waiting.splice(0)) {
      for (let isLast = false; !isLast && at < command.length; ) {
        const next = command.indexOf('\n', at);
        const line = command.slice(at, next < 0 ? command.length : next + 1);
        at += line.length;
        isLast = (tabs ? line.replace(/^\t+/, '') : line).replace(/\n$/, '') === end;
        filled += isLast || !quoted ? line : inQuotedDocument(line);
      }
    }
  }

  function inQuotedDocument(line: string): string {
    return line.replaceAll(reference, (found, name: string) => (isHarmless(name) ? variables[name] : found));
  }

  function isHarmless(name: string): name is keyof SetupVariables {
    return isVariable(name, variables) && meansNothing.test(variables[name]);
  }

  function isCode({ before, first }: Frame, name: string): boolean {
    return !isHarmless(name) && (takesCode.test(before) || first === 'eval');
  }

  function toggleBackticks(): void {
    const open = frames.findLastIndex(({ kind }) => kind === 'backticks');
    if (open < 0) frames.push(newFrame('backticks'));
    else frames.splice(open);
  }

  /** `$((` needs two; a pattern of `case` closes what it did not open. */
  function close({ kind }: Frame): void {
    if (frames.length === 1 || kind === 'backticks') return;
    if (kind === 'arithmetic' && command[at] === ')') return void frames.splice(-1, 1, newFrame('command'));
    frames.pop();
  }
}

function newFrame(kind: Kind): Frame {
  return { kind, word: '', before: '', first: '' };
}

function nextWord(frame: Frame, isNextCommand: boolean): void {
  const { word, before, first } = frame;
  frame.word = '';
  frame.before = isNextCommand ? '' : word === '' ? before : word;
  frame.first = isNextCommand ? '' : first === '' ? word : first;
}

function top(frames: readonly Frame[]): Frame {
  return frames.at(-1) ?? newFrame('command');
}

/** The command that contains a double-quoted text. */
function under(frames: readonly Frame[]): Frame {
  return frames.findLast(({ kind }) => kind !== 'double') ?? newFrame('command');
}

function read(pattern: RegExp, text: string, at: number): RegExpExecArray {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (match === null) throw new Error('there is always one character more');
  return match;
}

function isVariable(name: string, variables: SetupVariables): name is keyof SetupVariables {
  return Object.hasOwn(variables, name);
}
