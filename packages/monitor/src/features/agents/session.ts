// What an agent is doing, from the lines of its session of the Agent Client Protocol, version 1: those that we sent and
// those that it wrote. Every item is an upsert by its id, because agents leave steps out: a permission may name a tool
// that was never announced, and an update may arrive without a start. Unknown kinds of lines change nothing.
//
//   starting          the agent has not opened a session yet
//   running           a prompt has no answer yet
//   needs-permission  it has asked for a permission, and waits for the answer
//   needs-input       it has asked a question, and waits for the answer
//   idle              every prompt is answered
//   paused            only on the board: the provider's usage limit is reached
//   ended             its process is gone
import {
  asFields,
  type Fields,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
} from '@svc/contract/payload-fields';
import type { agentStates } from '../workers/agent-fields.ts';
import { limitInError, limitInMessage } from './limits.ts';
import { LOGIN_REPORT, type ReportedLogin, reportedLogin, reportsLogin } from './login.ts';
import {
  type AgentCommand,
  commandsIn,
  confirmed,
  offered,
  type SessionSettings,
  takesImages,
  withMode,
  withModel,
  withOptions,
} from './offered.ts';
import { aboutTool, isQuestion, type OpenRequest, permissionIn, questionIn } from './requests.ts';
import { addTokens, tokensAfterTurn, tokensOfChunk } from './tokens.ts';
import { type AgentTool, cutOff, shortText, toolOf } from './tools.ts';

export type AgentState = (typeof agentStates)[number];

/** A line of the protocol, read as JSON; `ended` is written by us when the process is gone. */
export type AgentEntry =
  | { from: 'svc' | 'agent'; message: Fields }
  | { from: 'process'; ended: { exitCode: number | null; signal: string | null } | null };

export type TurnEnd = { ok: boolean; reason: string };

export type AgentSession = SessionSettings & {
  state: AgentState;
  agent: { name: string; version: string | null } | null;
  can: { resume: boolean; load: boolean; close: boolean; steer: boolean; images: boolean };
  /** Null until the agent has reported it. */
  protocolVersion: number | null;
  /** The ways to log in that it offers. */
  logins: readonly string[];
  /** It refused to open a session because nobody is logged in. */
  needsLogin: boolean;
  /** Whether it reports its login without being asked, and what it has reported. */
  reportsLogin: boolean;
  login: ReportedLogin | null;
  /** Its own slash commands, without the slash. */
  commands: readonly AgentCommand[];
  /** Ids of our prompts that have no answer yet, oldest first. */
  prompts: readonly number[];
  turns: number;
  lastTurn: TurnEnd | null;
  /** The message or thought that is being written, or was written last. */
  message: { id: string; kind: 'message' | 'thought'; text: string } | null;
  /** No chunk will be added to it: a tool has started, or the turn has ended. */
  isMessageDone: boolean;
  /** How many messages and plans there were. */
  messages: number;
  plans: number;
  /** In which it works. */
  folder: string | null;
  tools: readonly AgentTool[];
  plan: readonly { content: string; status: string }[];
  open: readonly OpenRequest[];
  /** How many requests there were. */
  requests: number;
  /** Ids of its newest requests that we have answered. */
  answered: readonly string[];
  /** Keys of messages that the agent refused while it was working, until they are sent again as a prompt. */
  refused: readonly string[];
  context: { used: number; size: number } | null;
  /** Null where the agent does not report it in a way that is known to be whole. */
  tokens: { input: number; output: number } | null;
  cost: { amount: number; currency: string } | null;
  /** Methods of our requests that failed. */
  failed: readonly string[];
  /** The words by which the last turn reported a usage limit. */
  limit: string | null;
  /** Why the last request failed: a session that could not be opened, a prompt that was refused. */
  problem: string | null;
  exit: { exitCode: number | null; signal: string | null } | null;
  /** A session was loaded and nothing was sent to it yet: what the agent reports is of earlier processes. */
  isReplaying: boolean;
};

export const PROTOCOL_VERSION = 1;
/** The code of the error for a request that needs a login. */
const LOGIN_NEEDED = -32000;
export const STEERING = '_session/steering';
const LONGEST_MESSAGE = 16_384;
const MOST_TOOLS = 200;
const MOST_PLAN = 100;
/** Those above are refused. */
export const MOST_OPEN = 50;
const MOST_ANSWERED = 1_000;

export const newAgentSession: AgentSession = {
  state: 'starting',
  agent: null,
  can: { resume: false, load: false, close: false, steer: false, images: false },
  protocolVersion: null,
  logins: [],
  needsLogin: false,
  reportsLogin: false,
  login: null,
  sessionId: null,
  mode: null,
  modes: [],
  models: [],
  modeOption: null,
  model: null,
  modelOption: null,
  chosen: { mode: null, model: null },
  commands: [],
  prompts: [],
  turns: 0,
  lastTurn: null,
  message: null,
  isMessageDone: false,
  messages: 0,
  plans: 0,
  settings: 0,
  folder: null,
  tools: [],
  plan: [],
  open: [],
  requests: 0,
  answered: [],
  refused: [],
  context: null,
  tokens: null,
  cost: null,
  failed: [],
  limit: null,
  problem: null,
  exit: null,
  isReplaying: false,
  pending: {},
};

export function foldAgent(before: AgentSession, entry: AgentEntry): AgentSession {
  const after = changed(before, entry);
  if (after === before) return before;
  const state = stateOf(after);
  return state === after.state ? after : { ...after, state };
}

function changed(session: AgentSession, entry: AgentEntry): AgentSession {
  if (entry.from === 'process') {
    const exit = entry.ended ?? { exitCode: null, signal: null };
    return {
      ...session,
      exit,
      isMessageDone: true,
      prompts: [],
      open: [],
      pending: {},
      tools: session.tools.map(cutOff),
    };
  }
  const { message } = entry;
  const method = textAt(message, 'method');
  if (entry.from === 'svc') {
    if (method !== undefined) return afterOurRequest(session, method, message);
    const requestId = JSON.stringify(message['id']);
    const answered = [...session.answered, requestId].slice(-MOST_ANSWERED);
    return closeRequest({ ...session, answered }, requestId);
  }
  if (method === undefined) return afterAnswer(session, message);
  if (message['id'] !== undefined) return afterItsRequest(session, method, message);
  if (method === 'session/update') return afterUpdate(session, objectAt(message, 'params'));
  if (method === LOGIN_REPORT)
    return { ...session, login: reportedLogin(objectAt(message, 'params')) ?? session.login };
  // The agent no longer waits for an answer.
  if (method === '$/cancel_request')
    return closeRequest(session, JSON.stringify(objectAt(message, 'params')['requestId']));
  return session;
}

function stateOf({ exit, sessionId, open, prompts }: AgentSession): AgentState {
  if (exit !== null) return 'ended';
  if (sessionId === null) return 'starting';
  if (open.some(({ kind }) => kind === 'permission')) return 'needs-permission';
  if (open.length > 0) return 'needs-input';
  return prompts.length > 0 ? 'running' : 'idle';
}

function afterOurRequest(session: AgentSession, method: string, message: Fields): AgentSession {
  const id = message['id'];
  if (typeof id !== 'number') return session;
  const pending = { ...session.pending, [id]: { method, params: objectAt(message, 'params') } };
  const folder = textAt(objectAt(message, 'params'), 'cwd') ?? session.folder;
  if (method === 'session/load') return { ...session, folder, pending, isReplaying: true };
  if (method === 'session/new') return { ...session, folder, pending, isReplaying: false };
  if (method !== 'session/prompt') return { ...session, folder, pending };
  const key = messageKey(objectAt(message, 'params'));
  return {
    ...session,
    pending,
    isReplaying: false,
    prompts: [...session.prompts, id],
    refused: session.refused.filter((one) => one !== key),
    limit: null,
    problem: null,
  };
}

function messageKey(params: Fields): string | undefined {
  return textAt(objectAt(objectAt(params, '_meta'), 'svc'), 'key');
}

function afterAnswer(session: AgentSession, message: Fields): AgentSession {
  const id = message['id'];
  const asked = typeof id === 'number' ? session.pending[id] : undefined;
  if (typeof id !== 'number' || asked === undefined) return session;
  const { [id]: _, ...pending } = session.pending;
  const after: AgentSession = { ...session, pending };
  const error = asFields(message['error']);
  if (asked.method === STEERING) return afterSteering(after, asked.params, message);
  if (error !== undefined) return afterError(after, id, asked.method, error);
  const result = objectAt(message, 'result');
  switch (asked.method) {
    case 'initialize':
      return initialized(after, result);
    case 'session/new':
    case 'session/load':
    case 'session/resume':
      return opened(after, result, textAt(result, 'sessionId') ?? textAt(asked.params, 'sessionId'));
    case 'session/set_mode':
      return confirmed(withMode(after, textAt(asked.params, 'modeId')), asked);
    case 'session/set_model':
      return confirmed(withModel(after, textAt(asked.params, 'modelId')), asked);
    case 'session/set_config_option':
      return confirmed(withOptions(after, listAt(result, 'configOptions')), asked);
    case 'session/prompt':
      return turnEnded(after, id, { ok: true, reason: textAt(result, 'stopReason') ?? 'unknown' }, result);
    default:
      return after;
  }
}

/** Any other outcome means that the agent did not get it. An agent that does not know `idleBehavior` starts a turn. */
const steered: readonly unknown[] = ['injected', 'startedNewTurn'];

function afterSteering(session: AgentSession, params: Fields, message: Fields): AgentSession {
  const key = messageKey(params);
  const isTaken = steered.includes(textAt(objectAt(message, 'result'), 'outcome'));
  return isTaken || key === undefined ? session : { ...session, refused: [...session.refused, key] };
}

function afterError(session: AgentSession, id: number, method: string, error: Fields): AgentSession {
  const details = textAt(objectAt(error, 'data'), 'details');
  const reason = [textAt(error, 'message') ?? 'unknown error', details].filter(Boolean).join(': ');
  const problem = shortText(`${method}: ${reason}`);
  const needsLogin = session.needsLogin || error['code'] === LOGIN_NEEDED;
  const failed: AgentSession = { ...session, problem, needsLogin, failed: [...session.failed, method] };
  return method === 'session/prompt'
    ? { ...turnEnded(failed, id, { ok: false, reason: shortText(reason) }), limit: limitInError(error) }
    : failed;
}

function initialized(session: AgentSession, result: Fields): AgentSession {
  const version = numberAt(result, 'protocolVersion');
  const isKnown = version === PROTOCOL_VERSION;
  const info = objectAt(result, 'agentInfo');
  const can = objectAt(result, 'agentCapabilities');
  const sessions = objectAt(can, 'sessionCapabilities');
  return {
    ...session,
    agent: { name: shortText(textAt(info, 'name') ?? 'unknown'), version: textAt(info, 'version') ?? null },
    can: {
      resume: asFields(sessions['resume']) !== undefined,
      load: flagAt(can, 'loadSession') === true,
      close: asFields(sessions['close']) !== undefined,
      steer: flagAt(objectAt(objectAt(result, '_meta'), 'steering'), 'supported') === true,
      images: takesImages(can),
    },
    protocolVersion: version ?? null,
    reportsLogin: reportsLogin(can),
    logins: listAt(result, 'authMethods').map((one) =>
      shortText(textAt(asFields(one) ?? {}, 'name') ?? 'unknown'),
    ),
    failed: isKnown ? session.failed : [...session.failed, 'initialize'],
    problem: isKnown
      ? session.problem
      : `initialize: the agent uses version ${version ?? 'unknown'} of the protocol, not ${PROTOCOL_VERSION}`,
  };
}

function opened(session: AgentSession, result: Fields, sessionId: string | undefined): AgentSession {
  if (sessionId === undefined) {
    const problem = 'session/new: the answer names no session';
    return { ...session, problem, failed: [...session.failed, 'session/new'] };
  }
  const modes = objectAt(result, 'modes');
  const models = objectAt(result, 'models');
  const known: AgentSession = {
    ...session,
    sessionId,
    problem: null,
    mode: textAt(modes, 'currentModeId') ?? session.mode,
    modes: offered(listAt(modes, 'availableModes'), 'id'),
    model: textAt(models, 'currentModelId') ?? session.model,
    models: offered(listAt(models, 'availableModels'), 'modelId'),
  };
  return withOptions(known, listAt(result, 'configOptions'));
}

function turnEnded(session: AgentSession, id: number, end: TurnEnd, result: Fields = {}): AgentSession {
  const prompts = session.prompts.filter((one) => one !== id);
  return {
    ...session,
    prompts,
    turns: session.turns + 1,
    lastTurn: end,
    limit: session.message === null || session.isMessageDone ? null : limitInMessage(session.message.text),
    isMessageDone: true,
    // Tools of a turn end with it, also those whose end was never reported.
    tools: prompts.length === 0 ? session.tools.map(cutOff) : session.tools,
    tokens: tokensAfterTurn(session.agent?.name, session.tokens, result),
  };
}

function afterItsRequest(session: AgentSession, method: string, message: Fields): AgentSession {
  const params = objectAt(message, 'params');
  const request = JSON.stringify(message['id']);
  const isKnown = session.open.some((one) => one.request === request);
  if (isKnown || session.open.length >= MOST_OPEN) return session;
  // An id that was answered is used again: it is another request.
  const answered = session.answered.filter((one) => one !== request);
  const asked: AgentSession = { ...session, answered, requests: session.requests + 1 };
  if (isQuestion(method, params))
    return { ...asked, open: [...asked.open, questionIn(request, session.requests, params)] };
  // The transport refuses every other request at once.
  if (method !== 'session/request_permission') return asked;
  const call = objectAt(params, 'toolCall');
  // What it asks for is known, also where the tool was never announced.
  const next = upsertTool(asked, call, true);
  const tool =
    next.tools.find(({ id }) => id === textAt(call, 'toolCallId')) ?? toolOf(call, undefined, asked.folder);
  const open = permissionIn(request, session.requests, tool, params);
  return { ...next, open: [...next.open, open] };
}

function closeRequest(session: AgentSession, request: string): AgentSession {
  const open = session.open.filter((one) => one.request !== request);
  return open.length === session.open.length ? session : { ...session, open };
}

function afterUpdate(session: AgentSession, params: Fields): AgentSession {
  const update = objectAt(params, 'update');
  switch (update['sessionUpdate']) {
    case 'current_mode_update':
      return withMode(session, textAt(update, 'currentModeId'));
    case 'config_option_update':
      return withOptions(session, listAt(update, 'configOptions'));
    case 'available_commands_update':
      return { ...session, commands: commandsIn(update) };
    default:
  }
  // An agent that loads a session reports all of it again; some still do after they have answered the request.
  if (session.isReplaying) return session;
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return withChunk(session, 'message', update);
    case 'agent_thought_chunk':
      return withChunk(session, 'thought', update);
    case 'tool_call':
    case 'tool_call_update':
      return upsertTool(session, update);
    case 'plan':
      return {
        ...session,
        plans: session.plans + 1,
        plan: listAt(update, 'entries').slice(0, MOST_PLAN).map(planEntry),
      };
    case 'usage_update':
      return withUsage(session, update);
    default:
      return session;
  }
}

function withChunk(session: AgentSession, kind: 'message' | 'thought', update: Fields): AgentSession {
  const tokens = addTokens(session.tokens, tokensOfChunk(session.agent?.name, update));
  const text = textAt(objectAt(update, 'content'), 'text') ?? '';
  if (text === '') return tokens === session.tokens ? session : { ...session, tokens };
  const id = textAt(update, 'messageId') ?? 'current';
  const last = session.message;
  // What follows a tool is another message, also where the agent continues with the same id: the first part is logged.
  const isSame = last?.kind === kind && last.id === id && !session.isMessageDone;
  const whole = isSame ? last.text + text : text;
  return {
    ...session,
    tokens,
    message: { id, kind, text: whole.slice(-LONGEST_MESSAGE) },
    isMessageDone: false,
    messages: isSame ? session.messages : session.messages + 1,
  };
}

function upsertTool(session: AgentSession, update: Fields, isNamed = false): AgentSession {
  const id = textAt(update, 'toolCallId');
  if (id === undefined) return session;
  const before = session.tools.find((tool) => tool.id === id);
  const described = toolOf(update, before, session.folder);
  const tool = isNamed ? { ...described, isNamed } : described;
  const tools =
    before === undefined
      ? [...session.tools, tool].slice(-MOST_TOOLS)
      : session.tools.map((one) => (one === before ? tool : one));
  const open = session.open.map((one) => (one.tool === id ? aboutTool(one, tool) : one));
  const isMessageDone = session.isMessageDone || before === undefined;
  return { ...session, tools, open, isMessageDone };
}

function planEntry(entry: unknown): { content: string; status: string } {
  const fields = asFields(entry) ?? {};
  return {
    content: shortText(textAt(fields, 'content') ?? ''),
    status: textAt(fields, 'status') ?? 'unknown',
  };
}

function withUsage(session: AgentSession, update: Fields): AgentSession {
  const [used, size] = [numberAt(update, 'used'), numberAt(update, 'size')];
  const cost = objectAt(update, 'cost');
  const [amount, currency] = [numberAt(cost, 'amount'), textAt(cost, 'currency')];
  return {
    ...session,
    // After a cancelled turn some report 0: that is not known.
    context: !used || size === undefined ? session.context : { used, size },
    // Cumulative, where it is reported at all.
    cost: amount === undefined || currency === undefined ? session.cost : { amount, currency },
  };
}
