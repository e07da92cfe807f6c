// An agent's output as a person reads it. A line of its stream: what it said, the tools that it used, how it ended. What
// a tool is given and gives back stays out: it may hold what nobody should read on a screen. And the end of its standard
// error, where a program says why it could not go on.
import type { WorkerOutput } from '../api/workers.ts';
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

export const LONGEST_OUTPUT_TEXT = 4_096;
const MOST_ERROR_LINES = 10;
const LONGEST_ERROR_LINE = 300;
/** With the words before it, it fits into one text of a line of the log. */
const LONGEST_ERRORS = 700;

export type OutputLine = WorkerOutput['lines'][number];
type OutputKind = OutputLine['kind'];

/** `readOutputLine('{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}', 0)` */
export function readOutputLine(line: string, offset: number): OutputLine[] {
  if (line.trim() === '') return [];
  const say = (kind: OutputKind, text: string, ok: boolean | null = null): OutputLine => ({
    offset,
    kind,
    ok,
    ...plainOutput(text),
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

function plainOutput(text: string): { text: string; cut: boolean } {
  const clean = withoutSteering(text.slice(0, LONGEST_OUTPUT_TEXT * 2));
  const cut = clean.length > LONGEST_OUTPUT_TEXT || text.length > LONGEST_OUTPUT_TEXT * 2;
  return { text: cut ? clean.slice(0, LONGEST_OUTPUT_TEXT).replace(/[\ud800-\udbff]$/, '') : clean, cut };
}

// What an agent's stream of JSON lines tells: its session, what it does, what it cost, how it ended. The file is
// appended to by every attempt, and each attempt is a session of its own: costs are those of all of them. Lines
// that are not understood are counted and change nothing.

const LONGEST_ACTIVITY = 200;
const LONGEST_ID = 100;
/** Blocks of one message look at the same usage again; sub-agents mix theirs in. */
const MESSAGES_KEPT = 16;
const SESSIONS_KEPT = 100;
const MOST_TOKENS = 1e12;
const MOST_USD = 1e6;

/** What sets colours and titles of a terminal: after an escape, up to a letter or up to a bell. */
const [escape, bell] = [String.fromCharCode(0x1b), String.fromCharCode(0x07)];
export const terminalSequence = new RegExp(
  `${escape}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^${escape}${bell}]*(?:${bell}|${escape}\\\\)?|[@-_])`,
  'g',
);

type Tokens = { input: number; output: number };
type Session = {
  id: string;
  /** As its result said; null before. Then the tokens are those of its messages. */
  usd: number | null;
  tokens: Tokens;
  messages: readonly { id: string; tokens: Tokens }[];
};

export type AgentStream = {
  /** `usd` is null while no session has told it. Tokens read from a cache are input tokens too. */
  cost: { usd: number | null; inputTokens: number; outputTokens: number };
  sessionId: string | null;
  /** The last thing that it did, for a person: one line, of at most 200 characters. */
  lastActivity: string | null;
  /** How the last session ended; null while it goes on. */
  ended: { ok: boolean; reason: string } | null;
  lines: number;
  /** Lines that are no JSON object with a type. */
  garbage: number;
  sessions: readonly Session[];
};

export const noAgentStream: AgentStream = {
  cost: { usd: null, inputTokens: 0, outputTokens: 0 },
  sessionId: null,
  lastActivity: null,
  ended: null,
  lines: 0,
  garbage: 0,
  sessions: [],
};

export function readAgentStream(before: AgentStream, line: string): AgentStream {
  if (line.trim() === '') return before;
  const fields = jsonIn(line);
  const type = fields && textAt(fields, 'type');
  const state = { ...before, lines: before.lines + 1 };
  if (fields === undefined || type === undefined) return { ...state, garbage: state.garbage + 1 };
  const sessionId = textAt(fields, 'session_id')?.slice(0, LONGEST_ID) ?? state.sessionId;
  const known = { ...state, sessionId };
  switch (type) {
    case 'system':
      return fields['subtype'] === 'init' ? { ...known, ended: null } : known;
    case 'assistant':
      return afterMessage(known, objectAt(fields, 'message'));
    case 'result':
      return afterResult(known, fields);
    default:
      return known;
  }
}

function afterMessage(state: AgentStream, message: Fields): AgentStream {
  const activity = listAt(message, 'content')
    .map(activityIn)
    .findLast((text) => text !== undefined);
  const next: AgentStream = { ...state, lastActivity: activity ?? state.lastActivity, ended: null };
  const usage = asFields(message['usage']);
  if (usage === undefined) return next;
  const id = textAt(message, 'id')?.slice(0, LONGEST_ID) ?? `line ${state.lines}`;
  return withSession(next, (session) => {
    const told = session.messages.find((one) => one.id === id);
    const tokens = largest(tokensIn(usage), told?.tokens);
    const others = session.messages.filter((one) => one !== told);
    const messages = [...others, { id, tokens }].slice(-MESSAGES_KEPT);
    // A result has told the whole already, and is the better word.
    if (session.usd !== null) return { ...session, messages };
    return { ...session, messages, tokens: plus(session.tokens, tokens, told?.tokens) };
  });
}

function afterResult(state: AgentStream, fields: Fields): AgentStream {
  const subtype = plainLine(textAt(fields, 'subtype') ?? 'unknown');
  const ok = flagAt(fields, 'is_error') !== true && subtype === 'success';
  const said = plainLine(textAt(fields, 'result') ?? '');
  const reason = ok || said === '' ? subtype : plainLine(`${subtype}: ${said}`);
  const next: AgentStream = { ...state, ended: { ok, reason } };
  const usd = bounded(fields['total_cost_usd'], MOST_USD);
  const usage = asFields(fields['usage']);
  return withSession(next, (session) => ({
    ...session,
    // A session that tells several results counts on from one to the next.
    usd: usd === null && session.usd === null ? null : Math.max(usd ?? 0, session.usd ?? 0),
    tokens: usage === undefined ? session.tokens : largest(tokensIn(usage), session.tokens),
  }));
}

function withSession(state: AgentStream, change: (session: Session) => Session): AgentStream {
  const id = state.sessionId ?? '';
  const fresh: Session = { id, usd: null, tokens: { input: 0, output: 0 }, messages: [] };
  const known = state.sessions.find((session) => session.id === id);
  const others = state.sessions.filter((session) => session !== known);
  const sessions = merged([...others, change(known ?? fresh)]);
  const told = sessions.filter(({ usd }) => usd !== null);
  const sum = (one: (session: Session) => number): number =>
    sessions.reduce((total, session) => total + one(session), 0);
  return {
    ...state,
    sessions,
    cost: {
      usd: told.length === 0 ? null : sum(({ usd }) => usd ?? 0),
      inputTokens: sum(({ tokens }) => tokens.input),
      outputTokens: sum(({ tokens }) => tokens.output),
    },
  };
}

/** The two oldest become one when there are too many. */
function merged(sessions: Session[]): Session[] {
  const [first, second, ...others] = sessions;
  if (sessions.length <= SESSIONS_KEPT || first === undefined || second === undefined) return sessions;
  const usd = first.usd === null && second.usd === null ? null : (first.usd ?? 0) + (second.usd ?? 0);
  return [{ id: 'earlier', usd, tokens: plus(first.tokens, second.tokens), messages: [] }, ...others];
}

/** The name of a tool, and not what it is given: that may hold what nobody should read on a screen. */
function activityIn(block: unknown): string | undefined {
  const fields = asFields(block) ?? {};
  if (fields['type'] === 'tool_use') return plainLine(`uses ${textAt(fields, 'name') ?? 'a tool'}`);
  const text = fields['type'] === 'text' ? plainLine(textAt(fields, 'text') ?? '') : '';
  return text === '' ? undefined : text;
}

/** One line without control characters and without what turns the direction of a text. */
function plainLine(text: string): string {
  const plain = text
    .slice(0, LONGEST_ACTIVITY * 4)
    .toWellFormed()
    .replaceAll(terminalSequence, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return plain.length <= LONGEST_ACTIVITY ? plain : `${cutActivity(plain)}…`;
}

function cutActivity(text: string): string {
  return text.slice(0, LONGEST_ACTIVITY - 1).replace(/[\ud800-\udbff]$/, '');
}

function tokensIn(usage: Fields): Tokens {
  const at = (name: string): number => Math.floor(bounded(usage[name], MOST_TOKENS) ?? 0);
  return {
    input: at('input_tokens') + at('cache_creation_input_tokens') + at('cache_read_input_tokens'),
    output: at('output_tokens'),
  };
}

function bounded(value: unknown, most: number): number | null {
  return typeof value === 'number' && value >= 0 && value <= most ? value : null;
}

function plus(total: Tokens, added: Tokens, without: Tokens = { input: 0, output: 0 }): Tokens {
  return {
    input: total.input + added.input - without.input,
    output: total.output + added.output - without.output,
  };
}

function largest(one: Tokens, other: Tokens = { input: 0, output: 0 }): Tokens {
  return { input: Math.max(one.input, other.input), output: Math.max(one.output, other.output) };
}
