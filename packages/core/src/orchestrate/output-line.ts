// An agent's output as a person reads it. A line of its stream: what it said, the tools that it used, how it ended. What
// a tool is given and gives back stays out: it may hold what nobody should read on a screen. And the end of its standard
// error, where a program says why it could not go on.
import { cutText } from '../log/cut-text.ts';
import {
  asFields,
  type Fields,
  flagAt,
  jsonIn,
  listAt,
  objectAt,
  textAt,
} from '../receive/payload-fields.ts';
import { terminalSequence } from './agent-stream.ts';

export const LONGEST_OUTPUT_TEXT = 4_096;
const MOST_ERROR_LINES = 10;
const LONGEST_ERROR_LINE = 300;
/** With the words before it, it fits into one text of a line of the log. */
const LONGEST_ERRORS = 700;

export type OutputKind = 'text' | 'tool' | 'result' | 'session' | 'other' | 'unreadable';

export type OutputLine = {
  /** Where its line begins in the file, in bytes. A line that says several things is several with one offset. */
  offset: number;
  kind: OutputKind;
  /** Plain text of at most 4 KiB, which may have several lines. */
  text: string;
  /** Of a result: whether it ended well. */
  ok: boolean | null;
  /** There was more of it. */
  cut: boolean;
};

export type WorkerOutput = {
  ticket: string;
  orchestrator: string;
  exists: boolean;
  file: string;
  /** In bytes; `from` and `to` are the part that the lines are of. */
  size: number;
  from: number;
  to: number;
  /** The file has become shorter than what was asked for: it is read from its start. */
  restarted: boolean;
  lines: OutputLine[];
  /** The last lines of its standard error, as plain text; empty when there are none. */
  errors: string;
};

/** `readOutputLine('{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}', 0)` */
export function readOutputLine(line: string, offset: number): OutputLine[] {
  if (line.trim() === '') return [];
  const say = (kind: OutputKind, text: string, ok: boolean | null = null): OutputLine => ({
    offset,
    kind,
    ok,
    ...plain(text),
  });
  const fields = jsonIn(line);
  const type = fields && textAt(fields, 'type');
  if (fields === undefined || type === undefined) return [say('unreadable', line)];
  switch (type) {
    case 'system':
      return fields['subtype'] === 'init'
        ? [say('session', textAt(fields, 'model') ?? 'a new session')]
        : [say('other', textAt(fields, 'subtype') ?? type)];
    case 'assistant':
      return listAt(objectAt(fields, 'message'), 'content').flatMap((block) => {
        const said = blockSays(asFields(block) ?? {});
        return said === undefined ? [] : [say(...said)];
      });
    case 'result': {
      const subtype = textAt(fields, 'subtype') ?? 'unknown';
      const ok = flagAt(fields, 'is_error') !== true && subtype === 'success';
      return [say('result', textAt(fields, 'result') ?? subtype, ok)];
    }
    default:
      return [say('other', type)];
  }
}

function blockSays(block: Fields): [OutputKind, string] | undefined {
  if (block['type'] === 'tool_use') return ['tool', textAt(block, 'name') ?? 'a tool'];
  const text = block['type'] === 'text' ? textAt(block, 'text') : undefined;
  return text === undefined || text.trim() === '' ? undefined : ['text', text];
}

/** `errorTail('\u001b[31mexec: claude: not found\u001b[0m\n')` is `exec: claude: not found`. */
export function errorTail(text: string): string {
  const lines = withoutSteering(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-MOST_ERROR_LINES)
    .map((line) => cutText(line.trimEnd(), LONGEST_ERROR_LINE));
  while (lines.join('\n').length > LONGEST_ERRORS) lines.shift();
  return lines.join('\n');
}

/** For a sentence: lines end with a bar. */
export function inOneLine(errors: string): string {
  return errors.replaceAll('\n', ' | ');
}

/** Without control characters, and without what turns the direction of a text; new lines and tabs stay. */
function withoutSteering(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(terminalSequence, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
}

function plain(text: string): { text: string; cut: boolean } {
  const clean = withoutSteering(text.slice(0, LONGEST_OUTPUT_TEXT * 2));
  const cut = clean.length > LONGEST_OUTPUT_TEXT || text.length > LONGEST_OUTPUT_TEXT * 2;
  return { text: cut ? clean.slice(0, LONGEST_OUTPUT_TEXT).replace(/[\ud800-\udbff]$/, '') : clean, cut };
}
