// What we send to an agent: JSON-RPC messages of the Agent Client Protocol, version 1, and which of them is due next when a
// session starts. Each contains how far the journal had been read when it was written, so both files can be read again in
// the order in which things happened.
import {
  asFields,
  type Fields,
  integerAt,
  listAt,
  objectAt,
  onlyKnown,
  textAt,
} from '@svc/contract/payload-fields';
import { SET_MODE, SET_OPTION, wanted } from './offered.ts';
import { answerable, type OptionKind } from './requests.ts';
import type { AttachedImage } from './schemas.ts';
import { type AgentSession, MOST_OPEN, PROTOCOL_VERSION, STEERING } from './session.ts';

/** A message that has no id yet. */
export type Request = { method: string; params: Fields };

/** Saved before the agent is started, so any instance of the daemon can continue. */
export type SessionSetup = {
  cwd: string;
  /** A session of an earlier process of the same ticket, to be continued. */
  resume: string | null;
  /** The agent's own id of a permission mode. Null leaves the agent's default. */
  mode: string | null;
  /** Null leaves the agent's default. */
  model: string | null;
  /** The text of the ticket, as data, in front of the first prompt; null: its project has no tracker. */
  ticket: string | null;
  /** The first prompt of a new session. */
  prompt: string;
  /** The first prompt of a session that is continued; null: only messages follow. */
  continuation: string | null;
};

/** What we add to a message: how much of the journal was read before, who sent it and for what. */
export type Mark = {
  read: number;
  by?: string | undefined;
  key?: string | undefined;
  kind?: string | undefined;
  images?: readonly AttachedImage[] | undefined;
};

export function withMark(message: Fields, mark: Mark): Fields {
  const marked = (fields: Fields): Fields => ({
    ...fields,
    _meta: { ...objectAt(fields, '_meta'), svc: mark },
  });
  if (message['method'] !== undefined)
    return { jsonrpc: '2.0', ...message, params: marked(objectAt(message, 'params')) };
  const error = asFields(message['error']);
  if (error !== undefined) return { jsonrpc: '2.0', ...message, error: { ...error, data: { svc: mark } } };
  return { jsonrpc: '2.0', ...message, result: marked(objectAt(message, 'result')) };
}

export function markIn(message: Fields): Mark {
  const holders = [
    objectAt(objectAt(message, 'params'), '_meta'),
    objectAt(objectAt(message, 'result'), '_meta'),
    objectAt(objectAt(message, 'error'), 'data'),
  ];
  const mark = holders.map((holder) => asFields(holder['svc'])).find((one) => one !== undefined) ?? {};
  return onlyKnown({
    read: integerAt(mark, 'read') ?? 0,
    by: textAt(mark, 'by'),
    key: textAt(mark, 'key'),
    kind: textAt(mark, 'kind'),
  });
}

/** The name of a request in the list of those that were sent: `session/set_config_option mode`. */
export function requestName(method: string, params: Fields): string {
  return method === SET_OPTION ? `${method} ${textAt(params, 'configId') ?? ''}` : method;
}

/**
 * What is due before the first prompt, and that prompt itself; null when there is nothing to send now. Without the
 * permission mode that was asked for there is no prompt. `sent` are the names of our requests so far.
 */
export function dueRequest(
  session: AgentSession,
  setup: SessionSetup,
  sent: readonly string[],
): Request | null {
  const { exit, agent, failed, sessionId, mode, model, modelOption } = session;
  const wantedMode = wanted(session, setup, 'mode');
  const wantedModel = wanted(session, setup, 'model');
  const once = (request: Request): Request | null =>
    sent.includes(requestName(request.method, request.params)) ? null : request;
  if (exit !== null) return null;
  if (!sent.includes('initialize')) return initialize;
  if (agent === null || failed.includes('initialize')) return null;
  if (sessionId === null)
    return Object.keys(session.pending).length > 0 ? null : openingOf(session, setup, sent);
  if (wantedMode !== null && mode !== wantedMode) return once(modeRequest(session, wantedMode));
  if (wantedModel !== null && model !== wantedModel && modelOption !== null) {
    const request = once(setOption(sessionId, modelOption, wantedModel));
    if (request !== null || Object.keys(session.pending).length > 0) return request;
  }
  if (!isContinued(session, sent)) return once(promptRequest(sessionId, firstTexts(setup)));
  return setup.continuation === null ? null : once(promptRequest(sessionId, [setup.continuation]));
}

/** Whether the session has the history of an earlier one. */
function isContinued({ sessionId }: AgentSession, sent: readonly string[]): boolean {
  return sessionId !== null && !sent.includes(NEW) && sent.some((name) => name === RESUME || name === LOAD);
}

/** The session is ready for messages: its first prompt was sent, or none is needed. */
export function isReady(session: AgentSession, setup: SessionSetup, sent: readonly string[]): boolean {
  const mode = wanted(session, setup, 'mode');
  if (session.sessionId === null || (mode !== null && session.mode !== mode)) return false;
  return sent.includes('session/prompt') || (isContinued(session, sent) && setup.continuation === null);
}

/** Why the session cannot be used; null while that is not certain. */
export function startProblem(
  session: AgentSession,
  setup: SessionSetup,
  sent: readonly string[],
): string | null {
  const { exit, failed, pending, sessionId, mode, modes, problem } = session;
  if (exit !== null || isReady(session, setup, sent) || Object.keys(pending).length > 0) return null;
  if (failed.includes('initialize')) return problem;
  if (sessionId === null) return failed.includes(NEW) ? problem : null;
  const wantedMode = wanted(session, setup, 'mode');
  if (wantedMode === null || mode === wantedMode || dueRequest(session, setup, sent) !== null) return null;
  const offered = modes.map(({ id }) => id).join(', ');
  return `The agent did not switch to the permission mode ${wantedMode}. It offers: ${offered || 'none'}`;
}

const NEW = 'session/new';
const LOAD = 'session/load';
const RESUME = 'session/resume';

const initialize: Request = {
  method: 'initialize',
  params: {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'svc', version: '1' },
    // The agent itself reads and writes files and runs commands; it only reports what a command printed.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {} },
      _meta: { terminal_output: true },
    },
  },
};

/** Resumed where the agent can, else loaded, else a new one. */
function openingOf(
  { can }: AgentSession,
  { cwd, resume }: SessionSetup,
  sent: readonly string[],
): Request | null {
  const params = { cwd, mcpServers: [] };
  const continued = { ...params, sessionId: resume };
  if (resume !== null && can.resume && !sent.includes(RESUME)) return { method: RESUME, params: continued };
  if (resume !== null && can.load && !sent.includes(LOAD)) return { method: LOAD, params: continued };
  return sent.includes(NEW) ? null : { method: NEW, params };
}

function modeRequest({ sessionId, modeOption }: AgentSession, mode: string): Request {
  return modeOption === null
    ? { method: SET_MODE, params: { sessionId, modeId: mode } }
    : setOption(sessionId ?? '', modeOption, mode);
}

function setOption(sessionId: string, configId: string, value: string): Request {
  return { method: SET_OPTION, params: { sessionId, configId, value } };
}

/**
 * The ticket is a block of its own, and the last block is ours: an agent that knows commands takes only the last one as a
 * command, so nothing in a ticket becomes a part of one.
 */
function firstTexts({ ticket, prompt }: SessionSetup): string[] {
  return ticket === null ? [prompt] : [ticket, prompt];
}

/** The data is in base64. */
export type PromptImage = { mimeType: string; data: string };

/** The text is last: an agent takes only the last block as a command. */
export function promptRequest(
  sessionId: string,
  texts: readonly string[],
  images: readonly PromptImage[] = [],
): Request {
  const prompt = [
    ...images.map((image) => ({ type: 'image', ...image })),
    ...texts.map((text) => ({ type: 'text', text })),
  ];
  return { method: 'session/prompt', params: { sessionId, prompt } };
}

function isImage(block: unknown): boolean {
  return asFields(block)?.['type'] === 'image';
}

/** What is kept of a prompt in memory. */
export function withoutImageData(message: Fields): Fields {
  const params = objectAt(message, 'params');
  const prompt = listAt(params, 'prompt');
  if (!prompt.some(isImage)) return message;
  return { ...message, params: { ...params, prompt: prompt.filter((block) => !isImage(block)) } };
}

export function cancelNotice(sessionId: string): Fields {
  return { method: 'session/cancel', params: { sessionId } };
}

/**
 * For an agent that takes messages while it works. If its turn has just ended it must not start another by itself: that
 * turn would have no prompt of ours, and the message is sent again as one.
 */
export function steeringRequest(sessionId: string, texts: readonly string[]): Request {
  const _meta = { steering: { idleBehavior: 'promptRequired' } };
  const { params } = promptRequest(sessionId, texts);
  return { method: STEERING, params: { ...params, _meta } };
}

export type Answer = OptionKind | 'accept' | 'decline' | 'cancelled';

/** By the kind of an option, never by its position; undefined where the request has no such answer. */
export function answerTo(
  session: AgentSession,
  request: string,
  answer: Answer,
  content: Fields = {},
): Fields | undefined {
  const open = session.open.find((one) => one.request === request);
  if (open === undefined) return undefined;
  const id: unknown = JSON.parse(request);
  const outcome =
    open.kind === 'input' ? inputOutcome(answer, content) : permissionOutcome(answerable(open), answer);
  return outcome && { id, result: outcome };
}

function permissionOutcome(
  options: AgentSession['open'][number]['options'],
  answer: Answer,
): Fields | undefined {
  if (answer === 'cancelled') return { outcome: { outcome: 'cancelled' } };
  const option = options.find(({ kind }) => kind === answer);
  return option && { outcome: { outcome: 'selected', optionId: option.id } };
}

function inputOutcome(answer: Answer, content: Fields): Fields | undefined {
  if (answer === 'cancelled') return { action: 'cancel' };
  if (answer === 'decline') return { action: 'decline' };
  return answer === 'accept' ? { action: 'accept', content } : undefined;
}

/** An agent that asks without end is not left waiting for an answer that nobody can give. */
export function tooManyRequests(message: Fields): Fields {
  const text = `More than ${MOST_OPEN} requests are open. Wait for their answers, then ask again.`;
  return { id: message['id'], error: { code: -32000, message: text } };
}

/** Every request of the agent gets an answer: silence hangs some. */
export function methodNotFound(message: Fields): Fields {
  const method = textAt(message, 'method') ?? 'unknown';
  return { id: message['id'], error: { code: -32601, message: `Method not found: ${method}` } };
}
