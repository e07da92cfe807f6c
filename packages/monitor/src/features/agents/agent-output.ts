// An agent's output for people. For a line of its stream: its text, the tools that it used, its result. A tool's input
// and output are left out, because they may contain secrets. Also the end of its standard error, where a program
// reports why it failed.
import {
  asFields,
  type Fields,
  flagAt,
  jsonIn,
  listAt,
  objectAt,
  textAt,
} from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import { terminalSequence } from '@svc/lib/visible-text';
import type { WorkerOutput } from '../workers/api.ts';
import { limitInError } from './limits.ts';

export const LONGEST_OUTPUT_TEXT = 4_096;
const MOST_ERROR_LINES = 10;
const LONGEST_ERROR_LINE = 300;
/** Together with the text before it, it fits into one field of a log line. */
const LONGEST_ERRORS = 700;

export type OutputLine = WorkerOutput['lines'][number];
type OutputKind = OutputLine['kind'];

/** `readOutputLine('{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}', 0)` */
export function readOutputLine(line: string, offset: number): OutputLine[] {
  if (line.trim() === '') return [];
  const entry = (kind: OutputKind, text: string, ok: boolean | null = null): OutputLine => ({
    offset,
    kind,
    ok,
    ...plainOutput(text),
  });
  const fields = jsonIn(line);
  const type = fields && textAt(fields, 'type');
  if (fields === undefined || type === undefined) return [entry('unreadable', line)];
  switch (type) {
    case 'system':
      return fields['subtype'] === 'init'
        ? [entry('session', textAt(fields, 'model') ?? 'a new session')]
        : [entry('other', textAt(fields, 'subtype') ?? type)];
    case 'assistant':
      return listAt(objectAt(fields, 'message'), 'content').flatMap((block) => {
        const shown = blockText(asFields(block) ?? {});
        return shown === undefined ? [] : [entry(...shown)];
      });
    case 'result': {
      const subtype = textAt(fields, 'subtype') ?? 'unknown';
      const ok = flagAt(fields, 'is_error') !== true && subtype === 'success';
      return [entry('result', textAt(fields, 'result') ?? subtype, ok)];
    }
    default:
      return [entry('other', type)];
  }
}

function blockText(block: Fields): [OutputKind, string] | undefined {
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

/** For use in a sentence: line breaks become bars. */
export function inOneLine(errors: string): string {
  return errors
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join(' | ');
}

/** Without control characters and text direction marks; new lines and tabs stay. */
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

// Reads an agent's stream of JSON lines: its session, its activity, its cost and its result. Every attempt appends to
// the file, and each is a separate session: their costs add up. Unknown lines are counted and change nothing.

const LONGEST_ACTIVITY = 200;
const LONGEST_ID = 100;
/** Blocks of one message repeat the same usage; messages of sub-agents come in between. */
const MESSAGES_KEPT = 16;
const SESSIONS_KEPT = 100;
const MOST_TOKENS = 1e12;
const MOST_USD = 1e6;

type Tokens = { input: number; output: number };
type Session = {
  id: string;
  /** From its result; null before that, when the tokens are those of its messages. */
  usd: number | null;
  tokens: Tokens;
  messages: readonly { id: string; tokens: Tokens }[];
};

export type AgentStream = {
  /** `usd` is null until a session reports it. Tokens read from a cache are input tokens too. */
  cost: { usd: number | null; inputTokens: number; outputTokens: number };
  sessionId: string | null;
  /** Its last activity, for a person: one line of at most 200 characters. */
  lastActivity: string | null;
  /** The words by which the last session reported a usage limit. */
  limit: string | null;
  /** How the last session ended; null while it runs. */
  ended: { ok: boolean; reason: string } | null;
  lines: number;
  /** Lines that are not a JSON object with a type. */
  garbage: number;
  sessions: readonly Session[];
};

export const noAgentStream: AgentStream = {
  cost: { usd: null, inputTokens: 0, outputTokens: 0 },
  sessionId: null,
  lastActivity: null,
  limit: null,
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
      return fields['subtype'] === 'init' ? { ...known, ended: null, limit: null } : known;
    case 'assistant':
      return afterMessage(known, objectAt(fields, 'message'));
    case 'result':
      return afterResult(known, fields);
    case 'rate_limit_event': {
      const info = objectAt(fields, 'rate_limit_info');
      // Others are only warnings.
      return info['status'] === 'rejected'
        ? { ...known, limit: JSON.stringify({ rate_limit: info }) }
        : known;
    }
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
    const known = session.messages.find((one) => one.id === id);
    const tokens = largest(tokensIn(usage), known?.tokens);
    const others = session.messages.filter((one) => one !== known);
    const messages = [...others, { id, tokens }].slice(-MESSAGES_KEPT);
    // The result has already reported the total, and is more accurate.
    if (session.usd !== null) return { ...session, messages };
    return { ...session, messages, tokens: plus(session.tokens, tokens, known?.tokens) };
  });
}

function afterResult(state: AgentStream, fields: Fields): AgentStream {
  const subtype = plainLine(textAt(fields, 'subtype') ?? 'unknown');
  const ok = flagAt(fields, 'is_error') !== true && subtype === 'success';
  const result = plainLine(textAt(fields, 'result') ?? '');
  const reason = ok || result === '' ? subtype : plainLine(`${subtype}: ${result}`);
  const limit = ok ? null : limitInError(`${textAt(fields, 'result') ?? ''} ${state.limit ?? ''}`);
  const next: AgentStream = { ...state, ended: { ok, reason }, limit };
  const usd = bounded(fields['total_cost_usd'], MOST_USD);
  const usage = asFields(fields['usage']);
  return withSession(next, (session) => ({
    ...session,
    // A session with several results adds them up.
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
  const reported = sessions.filter(({ usd }) => usd !== null);
  const sum = (one: (session: Session) => number): number =>
    sessions.reduce((total, session) => total + one(session), 0);
  return {
    ...state,
    sessions,
    cost: {
      usd: reported.length === 0 ? null : sum(({ usd }) => usd ?? 0),
      inputTokens: sum(({ tokens }) => tokens.input),
      outputTokens: sum(({ tokens }) => tokens.output),
    },
  };
}

/** Merges the two oldest if there are too many. */
function merged(sessions: Session[]): Session[] {
  const [first, second, ...others] = sessions;
  if (sessions.length <= SESSIONS_KEPT || first === undefined || second === undefined) return sessions;
  const usd = first.usd === null && second.usd === null ? null : (first.usd ?? 0) + (second.usd ?? 0);
  return [{ id: 'earlier', usd, tokens: plus(first.tokens, second.tokens), messages: [] }, ...others];
}

/** The name of a tool without its input, which may contain secrets. */
function activityIn(block: unknown): string | undefined {
  const fields = asFields(block) ?? {};
  if (fields['type'] === 'tool_use') return plainLine(`uses ${textAt(fields, 'name') ?? 'a tool'}`);
  const text = fields['type'] === 'text' ? plainLine(textAt(fields, 'text') ?? '') : '';
  return text === '' ? undefined : text;
}

/** One line without control characters and text direction marks. */
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
