// What we send to an agent: JSON-RPC messages of the Agent Client Protocol, version 1, and which of them is due next when a
// session begins. Each carries how far its journal had been read when it was written, so that both files can be read
// again in the order in which things happened.
import { asFields, type Fields, integerAt, objectAt, textAt } from '../receive/payload-fields.ts';
import type { AgentSession, OptionKind } from './session.ts';
import { PROTOCOL_VERSION } from './session.ts';

export type Outgoing = Fields;
/** A message that has still to get its id. */
export type Request = { method: string; params: Fields };

export type SessionWish = {
  cwd: string;
  /** A session of an earlier process of the same ticket, to be continued. */
  resume: string | null;
  /** The agent's own id of a permission mode. Null leaves the agent's default. */
  mode: string | null;
  model: string | null;
  prompt: string;
};

/** The message as it is written: with its id, and with how much of the journal was read before. */
export function withPosition(message: Fields, read: number): Outgoing {
  const mark = { _meta: { svc: { read } } };
  if (message['method'] !== undefined)
    return { jsonrpc: '2.0', ...message, params: { ...objectAt(message, 'params'), ...mark } };
  const error = asFields(message['error']);
  if (error !== undefined) return { jsonrpc: '2.0', ...message, error: { ...error, data: mark._meta } };
  return { jsonrpc: '2.0', ...message, result: { ...objectAt(message, 'result'), ...mark } };
}

export function positionIn(message: Fields): number {
  const at = (fields: Fields): number | undefined => integerAt(objectAt(fields, 'svc'), 'read');
  return (
    at(objectAt(objectAt(message, 'params'), '_meta')) ??
    at(objectAt(objectAt(message, 'result'), '_meta')) ??
    at(objectAt(objectAt(message, 'error'), 'data')) ??
    0
  );
}

/**
 * What is due before the first prompt, and that prompt itself; null when there is nothing to send now. `sent` are the
 * methods of our requests so far, in order.
 */
export function dueRequest(
  session: AgentSession,
  wish: SessionWish,
  sent: readonly string[],
): Request | null {
  const isOpen = (method: string): boolean =>
    Object.values(session.pending).some((request) => request.method === method);
  if (session.exit !== null) return null;
  if (!sent.includes('initialize')) return initialize;
  if (session.agent === null || session.problem !== null) return null;
  if (session.sessionId === null) return sent.some(isOpening) ? null : openingOf(session, wish);
  if (wish.mode !== null && session.mode !== wish.mode)
    return isOpen(SET_MODE) || isOpen(SET_OPTION) ? null : modeRequest(session, wish.mode);
  if (wish.model !== null && session.model !== wish.model && session.modelOption !== null)
    return isOpen(SET_OPTION) ? null : setOption(session.sessionId, session.modelOption, wish.model);
  if (sent.includes('session/prompt')) return null;
  return promptRequest(session.sessionId, wish.prompt);
}

const SET_MODE = 'session/set_mode';
const SET_OPTION = 'session/set_config_option';
const isOpening = (method: string): boolean => /^session\/(?:new|load|resume)$/.test(method);

const initialize: Request = {
  method: 'initialize',
  params: {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'svc', version: '1' },
    // The agent works with its own hands on files and commands; it only reports what a command printed.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      _meta: { terminal_output: true },
    },
  },
};

function openingOf({ can }: AgentSession, { cwd, resume }: SessionWish): Request {
  const params = { cwd, mcpServers: [] };
  if (resume !== null && can.resume)
    return { method: 'session/resume', params: { ...params, sessionId: resume } };
  if (resume !== null && can.load)
    return { method: 'session/load', params: { ...params, sessionId: resume } };
  return { method: 'session/new', params };
}

function modeRequest({ sessionId, modeOption }: AgentSession, mode: string): Request {
  return modeOption === null
    ? { method: SET_MODE, params: { sessionId, modeId: mode } }
    : setOption(sessionId ?? '', modeOption, mode);
}

function setOption(sessionId: string, configId: string, value: string): Request {
  return { method: SET_OPTION, params: { sessionId, configId, value } };
}

export function promptRequest(sessionId: string, text: string): Request {
  return { method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text }] } };
}

export function cancelNotice(sessionId: string): Fields {
  return { method: 'session/cancel', params: { sessionId } };
}

/** By the kind of an option, never by its position; undefined where the agent does not offer that kind. */
export function permissionAnswer(
  session: AgentSession,
  requestId: string,
  kind: OptionKind | 'cancelled',
): Fields | undefined {
  const request = session.open.find((one) => one.requestId === requestId);
  const id: unknown = JSON.parse(requestId);
  if (request === undefined) return undefined;
  if (kind === 'cancelled') return { id, result: { outcome: { outcome: 'cancelled' } } };
  const option = request.options.find((one) => one.kind === kind);
  return option && { id, result: { outcome: { outcome: 'selected', optionId: option.id } } };
}

/** Every request of the agent gets an answer: silence hangs some. */
export function methodNotFound(message: Fields): Fields {
  const method = textAt(message, 'method') ?? 'unknown';
  return { id: message['id'], error: { code: -32601, message: `Method not found: ${method}` } };
}
