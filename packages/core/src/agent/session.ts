// What an agent is doing, from the lines of its session of the Agent Client Protocol, version 1: those that we sent and
// those that it wrote. Every item is an upsert by its id, because agents leave steps out: a permission may name a tool
// that was never announced, and an update may come without a beginning. Unknown kinds of lines change nothing.
//
//   starting          the agent has not opened a session yet
//   running           a prompt has no answer yet
//   needs-permission  it has asked for a permission, and waits for the answer
//   needs-input       it has asked a question, and waits for the answer
//   idle              every prompt is answered
//   ended             its process is gone
import {
  asFields,
  type Fields,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
} from '../receive/payload-fields.ts';

export type AgentState = 'starting' | 'running' | 'needs-permission' | 'needs-input' | 'idle' | 'ended';

/** A line of the protocol, read as JSON; `ended` is written by us when the process is gone. */
export type AgentEntry =
  | { from: 'svc' | 'agent'; message: Fields }
  | { from: 'process'; ended: { exitCode: number | null; signal: string | null } | null };

export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cut-off';
export type AgentTool = {
  id: string;
  title: string;
  /** read, edit, delete, move, search, execute, think, fetch, switch_mode, other; as the agent says. */
  kind: string;
  status: ToolStatus;
  paths: readonly string[];
  exitCode: number | null;
};

export type OptionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
export type PermissionOption = { id: string; name: string; kind: OptionKind };
export type OpenRequest = {
  /** Of the agent's request, as JSON, since `1` and `"1"` are different ids. */
  requestId: string;
  kind: 'permission' | 'input';
  /** Null for a question. */
  tool: AgentTool | null;
  /** Of a question. */
  text: string | null;
  options: readonly PermissionOption[];
};

export type TurnEnd = { ok: boolean; reason: string };

export type AgentSession = {
  state: AgentState;
  agent: { name: string; version: string | null } | null;
  can: { resume: boolean; load: boolean; close: boolean; steer: boolean };
  /** Asked for by an agent that is not logged in. */
  logins: readonly string[];
  sessionId: string | null;
  /** Null while the agent has not told it. */
  mode: string | null;
  modes: readonly { id: string; name: string }[];
  /** How the mode is set: by a config option, or by `session/set_mode` where the agent has none. */
  modeOption: string | null;
  model: string | null;
  modelOption: string | null;
  /** Ids of our prompts that have no answer yet, oldest first. */
  prompts: readonly number[];
  turns: number;
  lastTurn: TurnEnd | null;
  /** The message or thought that is being written, or was written last. */
  message: { id: string; kind: 'message' | 'thought'; text: string } | null;
  tools: readonly AgentTool[];
  plan: readonly { content: string; status: string }[];
  open: readonly OpenRequest[];
  /** Ids of its requests that we have answered: after a restart an answer may be read before its request. */
  answered: readonly string[];
  context: { used: number; size: number } | null;
  /** Null where the agent does not report it in a way that is known to be whole. */
  tokens: { input: number; output: number } | null;
  cost: { amount: number; currency: string } | null;
  /** Why the last request failed: a session that could not be opened, a prompt that was refused. */
  problem: string | null;
  exit: { exitCode: number | null; signal: string | null } | null;
  /** Our requests without an answer: by id, the method and what the answer is needed for. */
  pending: Readonly<Record<number, { method: string; params: Fields }>>;
};

export const PROTOCOL_VERSION = 1;
const LONGEST_MESSAGE = 16_384;
const LONGEST_TEXT = 400;
const MOST_TOOLS = 200;
const MOST_PATHS = 20;
const MOST_OPTIONS = 12;
const MOST_PLAN = 100;
const MOST_OPEN = 50;

export const newAgentSession: AgentSession = {
  state: 'starting',
  agent: null,
  can: { resume: false, load: false, close: false, steer: false },
  logins: [],
  sessionId: null,
  mode: null,
  modes: [],
  modeOption: null,
  model: null,
  modelOption: null,
  prompts: [],
  turns: 0,
  lastTurn: null,
  message: null,
  tools: [],
  plan: [],
  open: [],
  answered: [],
  context: null,
  tokens: null,
  cost: null,
  problem: null,
  exit: null,
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
    return { ...session, exit, prompts: [], open: [], pending: {}, tools: session.tools.map(cutOff) };
  }
  const { message } = entry;
  const method = textAt(message, 'method');
  if (entry.from === 'svc') {
    if (method !== undefined) return afterOurRequest(session, method, message);
    const requestId = JSON.stringify(message['id']);
    return closeRequest({ ...session, answered: [...session.answered, requestId] }, requestId);
  }
  if (method === undefined) return afterAnswer(session, message);
  if (message['id'] !== undefined) return afterItsRequest(session, method, message);
  if (method === 'session/update') return afterUpdate(session, objectAt(message, 'params'));
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
  if (method !== 'session/prompt') return { ...session, pending };
  return { ...session, pending, prompts: [...session.prompts, id], problem: null };
}

function afterAnswer(session: AgentSession, message: Fields): AgentSession {
  const id = message['id'];
  const asked = typeof id === 'number' ? session.pending[id] : undefined;
  if (typeof id !== 'number' || asked === undefined) return session;
  const { [id]: _, ...pending } = session.pending;
  const after: AgentSession = { ...session, pending };
  const error = asFields(message['error']);
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
      return { ...after, mode: textAt(asked.params, 'modeId') ?? after.mode };
    case 'session/set_config_option':
      return withOptions(after, listAt(result, 'configOptions'));
    case 'session/prompt':
      return turnEnded(after, id, { ok: true, reason: textAt(result, 'stopReason') ?? 'unknown' }, result);
    default:
      return after;
  }
}

function afterError(session: AgentSession, id: number, method: string, error: Fields): AgentSession {
  const details = textAt(objectAt(error, 'data'), 'details');
  const reason = [textAt(error, 'message') ?? 'unknown error', details].filter(Boolean).join(': ');
  const problem = short(`${method}: ${reason}`);
  const failed: AgentSession = { ...session, problem };
  return method === 'session/prompt' ? turnEnded(failed, id, { ok: false, reason: short(reason) }) : failed;
}

function initialized(session: AgentSession, result: Fields): AgentSession {
  const version = numberAt(result, 'protocolVersion');
  const info = objectAt(result, 'agentInfo');
  const can = objectAt(result, 'agentCapabilities');
  const sessions = objectAt(can, 'sessionCapabilities');
  return {
    ...session,
    agent: { name: short(textAt(info, 'name') ?? 'unknown'), version: textAt(info, 'version') ?? null },
    can: {
      resume: asFields(sessions['resume']) !== undefined,
      load: flagAt(can, 'loadSession') === true,
      close: asFields(sessions['close']) !== undefined,
      steer: flagAt(objectAt(objectAt(result, '_meta'), 'steering'), 'supported') === true,
    },
    logins: listAt(result, 'authMethods').map((one) =>
      short(textAt(asFields(one) ?? {}, 'name') ?? 'unknown'),
    ),
    problem:
      version === PROTOCOL_VERSION
        ? session.problem
        : `initialize: the agent speaks version ${version ?? 'unknown'} of the protocol, not ${PROTOCOL_VERSION}`,
  };
}

function opened(session: AgentSession, result: Fields, sessionId: string | undefined): AgentSession {
  if (sessionId === undefined) return { ...session, problem: 'session/new: the answer names no session' };
  const modes = objectAt(result, 'modes');
  const models = objectAt(result, 'models');
  const known: AgentSession = {
    ...session,
    sessionId,
    problem: null,
    mode: textAt(modes, 'currentModeId') ?? session.mode,
    modes: choices(listAt(modes, 'availableModes'), 'id'),
    model: textAt(models, 'currentModelId') ?? session.model,
  };
  return withOptions(known, listAt(result, 'configOptions'));
}

/** The agent's settings by category: which is the permission mode, which is the model. */
function withOptions(session: AgentSession, options: readonly unknown[]): AgentSession {
  let next = session;
  for (const option of options.map((one) => asFields(one) ?? {})) {
    const id = textAt(option, 'id');
    const value = textAt(option, 'currentValue') ?? null;
    if (id === undefined) continue;
    if (option['category'] === 'mode')
      next = { ...next, mode: value, modeOption: id, modes: choices(listAt(option, 'options'), 'value') };
    if (option['category'] === 'model') next = { ...next, model: value, modelOption: id };
  }
  return next;
}

function choices(list: readonly unknown[], key: 'id' | 'value'): { id: string; name: string }[] {
  return list.slice(0, MOST_OPTIONS).flatMap((one) => {
    const fields = asFields(one) ?? {};
    const id = textAt(fields, key);
    return id === undefined ? [] : [{ id, name: short(textAt(fields, 'name') ?? id) }];
  });
}

function turnEnded(session: AgentSession, id: number, end: TurnEnd, result: Fields = {}): AgentSession {
  const prompts = session.prompts.filter((one) => one !== id);
  return {
    ...session,
    prompts,
    turns: session.turns + 1,
    lastTurn: end,
    // Tools of a turn end with it, also those whose end was never reported.
    tools: prompts.length === 0 ? session.tools.map(cutOff) : session.tools,
    tokens: addTokens(session.tokens, tokensOfTurn(session.agent?.name, result)),
  };
}

function cutOff(tool: AgentTool): AgentTool {
  return isOver(tool) ? tool : { ...tool, status: 'cut-off' };
}

const isOver = ({ status }: AgentTool): boolean => status !== 'pending' && status !== 'in_progress';

function afterItsRequest(session: AgentSession, method: string, message: Fields): AgentSession {
  const params = objectAt(message, 'params');
  const requestId = JSON.stringify(message['id']);
  const isKnown = session.open.some((one) => one.requestId === requestId);
  if (isKnown || session.answered.includes(requestId) || session.open.length >= MOST_OPEN) return session;
  if (method === 'elicitation/create') {
    const text = short(textAt(params, 'message') ?? 'The agent asks for input');
    return {
      ...session,
      open: [...session.open, { requestId, kind: 'input', tool: null, text, options: [] }],
    };
  }
  // The transport refuses every other request at once.
  if (method !== 'session/request_permission') return session;
  const call = objectAt(params, 'toolCall');
  const next = upsertTool(session, call);
  const tool = next.tools.find(({ id }) => id === textAt(call, 'toolCallId')) ?? toolOf(call, undefined);
  const options = listAt(params, 'options').slice(0, MOST_OPTIONS).flatMap(optionIn);
  return { ...next, open: [...next.open, { requestId, kind: 'permission', tool, text: null, options }] };
}

function optionIn(option: unknown): PermissionOption[] {
  const fields = asFields(option) ?? {};
  const id = textAt(fields, 'optionId');
  const kind = textAt(fields, 'kind');
  return id !== undefined && isOptionKind(kind)
    ? [{ id, kind, name: short(textAt(fields, 'name') ?? id) }]
    : [];
}

function isOptionKind(kind: string | undefined): kind is OptionKind {
  return (
    kind === 'allow_once' || kind === 'allow_always' || kind === 'reject_once' || kind === 'reject_always'
  );
}

function closeRequest(session: AgentSession, requestId: string): AgentSession {
  const open = session.open.filter((one) => one.requestId !== requestId);
  return open.length === session.open.length ? session : { ...session, open };
}

/** A session that is loaded is told from its beginning: what is told until the answer happened before. */
const isReplayed = ({ pending }: AgentSession): boolean =>
  Object.values(pending).some(({ method }) => method === 'session/load');

function afterUpdate(session: AgentSession, params: Fields): AgentSession {
  const update = objectAt(params, 'update');
  switch (update['sessionUpdate']) {
    case 'current_mode_update':
      return { ...session, mode: textAt(update, 'currentModeId') ?? session.mode };
    case 'config_option_update':
      return withOptions(session, listAt(update, 'configOptions'));
    default:
  }
  if (isReplayed(session)) return session;
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return withChunk(session, 'message', update);
    case 'agent_thought_chunk':
      return withChunk(session, 'thought', update);
    case 'tool_call':
    case 'tool_call_update':
      return upsertTool(session, update);
    case 'plan':
      return { ...session, plan: listAt(update, 'entries').slice(0, MOST_PLAN).map(planEntry) };
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
  const given = textAt(update, 'messageId');
  const last = session.message;
  // Without ids, chunks of one kind that follow each other are one message. A tool between them ends it.
  const isSame = last !== null && last.kind === kind && last.id === (given ?? 'current');
  const whole = isSame ? last.text + text : text;
  return {
    ...session,
    tokens,
    message: { id: given ?? 'current', kind, text: whole.slice(-LONGEST_MESSAGE) },
  };
}

function upsertTool(session: AgentSession, update: Fields): AgentSession {
  const id = textAt(update, 'toolCallId');
  if (id === undefined) return session;
  const before = session.tools.find((tool) => tool.id === id);
  const tool = toolOf(update, before);
  const tools =
    before === undefined
      ? [...session.tools, tool].slice(-MOST_TOOLS)
      : session.tools.map((one) => (one === before ? tool : one));
  const open = session.open.map((one) => (one.tool?.id === id ? { ...one, tool } : one));
  // A message without an id of its own ends where a tool begins.
  const message = before === undefined && session.message?.id === 'current' ? null : session.message;
  return { ...session, tools, open, message };
}

function toolOf(update: Fields, before: AgentTool | undefined): AgentTool {
  const paths = listAt(update, 'locations')
    .concat(listAt(update, 'content').filter((one) => asFields(one)?.['type'] === 'diff'))
    .flatMap((one) => textAt(asFields(one) ?? {}, 'path') ?? []);
  const exit = objectAt(objectAt(update, '_meta'), 'terminal_exit');
  const title = textAt(update, 'title') ?? before?.title ?? 'a tool';
  return {
    id: before?.id ?? textAt(update, 'toolCallId') ?? '',
    title: short(title),
    kind: textAt(update, 'kind') ?? before?.kind ?? 'other',
    status: statusIn(update['status']) ?? before?.status ?? 'pending',
    paths: paths.length === 0 ? (before?.paths ?? []) : [...new Set(paths)].slice(0, MOST_PATHS),
    exitCode: numberAt(exit, 'exit_code') ?? before?.exitCode ?? null,
  };
}

function statusIn(status: unknown): ToolStatus | undefined {
  return status === 'pending' || status === 'in_progress' || status === 'completed' || status === 'failed'
    ? status
    : undefined;
}

function planEntry(entry: unknown): { content: string; status: string } {
  const fields = asFields(entry) ?? {};
  return { content: short(textAt(fields, 'content') ?? ''), status: textAt(fields, 'status') ?? 'unknown' };
}

function withUsage(session: AgentSession, update: Fields): AgentSession {
  const [used, size] = [numberAt(update, 'used'), numberAt(update, 'size')];
  const cost = objectAt(update, 'cost');
  const [amount, currency] = [numberAt(cost, 'amount'), textAt(cost, 'currency')];
  return {
    ...session,
    context: used === undefined || size === undefined ? session.context : { used, size },
    // Cumulative, where it is reported at all.
    cost: amount === undefined || currency === undefined ? session.cost : { amount, currency },
  };
}

function short(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}

// Tokens. Each agent that was tried counts in its own way, and the count of one that was not tried is unknown.

type Tokens = { input: number; output: number } | null;

/** Where the answer to a prompt holds the sum of its turn. */
const turnSums: Readonly<Record<string, 'usage' | 'quota'>> = {
  '@agentclientprotocol/claude-agent-acp': 'usage',
  '@agentclientprotocol/codex-acp': 'usage',
  Copilot: 'usage',
  'gemini-cli': 'quota',
};
/** Writes what each request took on a chunk without text. */
const CHUNK_USAGE = 'qwen-code';

function tokensOfTurn(agent: string | undefined, result: Fields): Tokens {
  const where = agent === undefined ? undefined : turnSums[agent];
  if (where === 'usage') return tokensIn(objectAt(result, 'usage'), 'inputTokens', 'outputTokens');
  if (where === 'quota') {
    const count = objectAt(objectAt(objectAt(result, '_meta'), 'quota'), 'token_count');
    return tokensIn(count, 'input_tokens', 'output_tokens');
  }
  return null;
}

function tokensOfChunk(agent: string | undefined, update: Fields): Tokens {
  if (agent !== CHUNK_USAGE) return null;
  return tokensIn(objectAt(objectAt(update, '_meta'), 'usage'), 'inputTokens', 'outputTokens');
}

function tokensIn(fields: Fields, input: string, output: string): Tokens {
  const [one, other] = [numberAt(fields, input), numberAt(fields, output)];
  return one === undefined || other === undefined ? null : { input: one, output: other };
}

function addTokens(before: Tokens, added: Tokens): Tokens {
  if (added === null) return before;
  return { input: (before?.input ?? 0) + added.input, output: (before?.output ?? 0) + added.output };
}
