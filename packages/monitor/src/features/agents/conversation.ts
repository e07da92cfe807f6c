// The conversation with an agent, for people: prompts, messages, thoughts, tools with their output and diffs, plans and
// requests. Folded from the same lines as the session; every item is an upsert by its id, with a revision that grows with
// each change. Texts are bounded, and the oldest items are dropped: the journal has everything.
import { asFields, type Fields, integerAt, listAt, objectAt, textAt } from '@svc/contract/payload-fields';
import { type AgentRequest } from '../workers/agent-fields.ts';
import { markIn } from './messages.ts';
import { shownRequest } from './requests.ts';
import { AttachedImage, type ConversationItem } from './schemas.ts';
import { type AgentEntry, type AgentSession, STEERING } from './session.ts';
import { isLongDiff, LONGEST_DIFF, MOST_DIFFS, toolStatusIn } from './tools.ts';

const MOST_ITEMS = 2_000;
const LONGEST_TEXT = 64 * 1024;

type Item<Kind extends ConversationItem['kind']> = Extract<ConversationItem, { kind: Kind }>;
type ToolItem = Item<'tool'>;

export type Conversation = {
  rev: number;
  /** By id, oldest first. */
  items: Map<string, ConversationItem>;
  dropped: number;
  /** The message or thought that the next chunk without an id belongs to. */
  current: string | null;
  /** Who stopped the turn that runs. */
  stoppedBy: string | null;
};

export function newConversation(): Conversation {
  return { rev: 0, items: new Map(), dropped: 0, current: null, stoppedBy: null };
}

/** Changes the conversation in place: it is long, and only its newest items change. */
export function addToConversation(
  conversation: Conversation,
  entry: AgentEntry,
  { before, after }: { before: AgentSession; after: AgentSession },
): void {
  if (entry.from === 'process') return endConversation(conversation, before);
  const { message } = entry;
  if (entry.from === 'svc') addSent(conversation, message, before);
  else if (message['method'] === 'session/update') {
    if (!before.isReplaying) addUpdate(conversation, objectAt(objectAt(message, 'params'), 'update'));
  } else if (message['method'] === '$/cancel_request')
    closeRequests(conversation, after.open, 'withdrawn by the agent');
  else if (message['method'] === 'session/request_permission')
    // Some agents announce the tool only with the request.
    addTool(conversation, objectAt(objectAt(message, 'params'), 'toolCall'));
  for (const request of after.open)
    if (!before.open.some((one) => one.request === request.request))
      put(conversation, {
        id: `r${request.request}`,
        rev: 0,
        kind: 'request',
        request: shownRequest(request),
        answer: null,
        by: null,
      });
  if (after.turns > before.turns && after.lastTurn !== null) {
    if (after.prompts.length === 0) cutOffTools(conversation);
    const by = conversation.stoppedBy;
    put(conversation, {
      id: `t${after.turns}`,
      rev: 0,
      kind: 'turn',
      ...after.lastTurn,
      ...(by !== null && after.lastTurn.reason === 'cancelled' && { by }),
    });
    conversation.current = null;
    conversation.stoppedBy = null;
  }
}

/** The items with a higher revision. */
export function itemsAfter({ items }: Conversation, rev: number): ConversationItem[] {
  return [...items.values()].filter((item) => item.rev > rev);
}

/** The newest items, and the tool calls that open requests are about, however old they are. */
export function newestItems(
  items: readonly ConversationItem[],
  most: number,
  open: readonly { tool: string | null }[],
): ConversationItem[] {
  const asked = new Set(open.flatMap(({ tool }) => (tool === null ? [] : [`tool:${tool}`])));
  return items.filter(({ id }, index) => index >= items.length - most || asked.has(id));
}

function put(conversation: Conversation, item: ConversationItem): void {
  conversation.rev += 1;
  conversation.items.set(item.id, { ...item, rev: conversation.rev });
  const [oldest] = conversation.items.keys();
  if (conversation.items.size <= MOST_ITEMS || oldest === undefined) return;
  conversation.items.delete(oldest);
  conversation.dropped += 1;
}

function addSent(conversation: Conversation, message: Fields, before: AgentSession): void {
  const params = objectAt(message, 'params');
  const { by = null, kind, key = String(message['id']) } = markIn(message);
  if (message['method'] === 'session/prompt' || message['method'] === STEERING) {
    const text = listAt(params, 'prompt')
      .map((block) => textAt(asFields(block) ?? {}, 'text') ?? '')
      .join('\n');
    // A message that a working agent did not take is sent again with the same key.
    const images = imagesIn(params);
    put(conversation, {
      id: `p${key}`,
      rev: 0,
      kind: 'prompt',
      text: head(text),
      by,
      ...(images.length > 0 && { images }),
    });
    conversation.current = null;
    return;
  }
  if (message['method'] === 'session/cancel') conversation.stoppedBy = by;
  if (message['method'] !== undefined) return;
  const request = JSON.stringify(message['id']);
  const known = conversation.items.get(`r${request}`);
  if (known?.kind !== 'request' || !before.open.some((one) => one.request === request)) return;
  const answer = answerName(known.request, kind, objectAt(message, 'result'));
  put(conversation, { ...known, answer, by });
}

function imagesIn(params: Fields): AttachedImage[] {
  const images = objectAt(objectAt(params, '_meta'), 'svc')['images'];
  return AttachedImage.array().catch([]).parse(images);
}

function answerName({ options }: AgentRequest, kind: string | undefined, result: Fields): string {
  const outcome = objectAt(result, 'outcome');
  return (
    options.find((option) => option.kind === kind)?.name ??
    textAt(outcome, 'outcome') ??
    textAt(result, 'action') ??
    'answered'
  );
}

/** All that are no longer open. */
function closeRequests(conversation: Conversation, open: AgentSession['open'], answer: string): void {
  for (const item of conversation.items.values())
    if (
      item.kind === 'request' &&
      item.answer === null &&
      !open.some(({ request }) => request === item.request.request)
    )
      put(conversation, { ...item, answer });
}

/** With the process, what was running and what was asked end too. */
function endConversation(conversation: Conversation, { prompts, turns }: AgentSession): void {
  cutOffTools(conversation);
  closeRequests(conversation, [], 'cancelled');
  if (prompts.length > 0)
    put(conversation, { id: `t${turns + 1}`, rev: 0, kind: 'turn', ok: false, reason: 'the agent ended' });
}

function addUpdate(conversation: Conversation, update: Fields): void {
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return addChunk(conversation, 'message', update);
    case 'agent_thought_chunk':
      return addChunk(conversation, 'thought', update);
    case 'tool_call':
    case 'tool_call_update':
      return addTool(conversation, update);
    case 'plan': {
      const entries = listAt(update, 'entries')
        .slice(0, 100)
        .map((one) => {
          const fields = asFields(one) ?? {};
          return {
            content: head(textAt(fields, 'content') ?? ''),
            status: textAt(fields, 'status') ?? 'unknown',
          };
        });
      return put(conversation, { id: 'plan', rev: 0, kind: 'plan', entries });
    }
    default:
  }
}

function addChunk(conversation: Conversation, kind: 'message' | 'thought', update: Fields): void {
  const text = textAt(objectAt(update, 'content'), 'text') ?? '';
  if (text === '') return;
  const given = textAt(update, 'messageId');
  const current = conversation.current === null ? undefined : conversation.items.get(conversation.current);
  const id =
    given !== undefined
      ? `${kind}:${given}`
      : current?.kind === kind
        ? current.id
        : `${kind}:${conversation.rev}`;
  const known = conversation.items.get(id);
  const before = known?.kind === kind ? known.text : '';
  const cut = before.length + text.length > LONGEST_TEXT;
  put(conversation, { id, rev: 0, kind, text: cut ? before.slice(0, LONGEST_TEXT) : before + text, cut });
  conversation.current = id;
}

function addTool(conversation: Conversation, update: Fields): void {
  const id = textAt(update, 'toolCallId');
  if (id === undefined) return;
  const known = conversation.items.get(`tool:${id}`);
  if (known === undefined) conversation.current = null;
  put(conversation, withUpdate(known?.kind === 'tool' ? known : newTool(id), update));
}

function newTool(id: string): ToolItem {
  return {
    id: `tool:${id}`,
    rev: 0,
    kind: 'tool',
    title: 'a tool',
    toolKind: 'other',
    status: 'pending',
    paths: [],
    command: null,
    output: '',
    exitCode: null,
    diffs: [],
    cut: false,
  };
}

function withUpdate(before: ToolItem, update: Fields): ToolItem {
  const content = listAt(update, 'content').map((one) => asFields(one) ?? {});
  const changes = content.filter((one) => one['type'] === 'diff');
  const diffs = changes.slice(0, MOST_DIFFS).map(diffOf);
  const texts = content.flatMap((one) => textAt(objectAt(one, 'content'), 'text') ?? []);
  const meta = objectAt(update, '_meta');
  const live = textAt(objectAt(meta, 'terminal_output'), 'data');
  const paths = listAt(update, 'locations').flatMap((one) => textAt(asFields(one) ?? {}, 'path') ?? []);
  const output =
    live === undefined ? (texts.length > 0 ? texts.join('\n') : before.output) : before.output + live;
  return {
    ...before,
    title: head(textAt(update, 'title') ?? before.title),
    toolKind: textAt(update, 'kind') ?? before.toolKind,
    status: toolStatusIn(update['status']) ?? before.status,
    paths: [...new Set([...before.paths, ...paths])].slice(0, MOST_DIFFS),
    command: textAt(objectAt(update, 'rawInput'), 'command') ?? before.command,
    // The end of a long output matters more than its start.
    output: output.slice(-LONGEST_TEXT),
    exitCode: integerAt(objectAt(meta, 'terminal_exit'), 'exit_code') ?? before.exitCode,
    diffs: diffs.length > 0 ? diffs.map(({ cut: _, ...diff }) => diff) : before.diffs,
    cut:
      before.cut ||
      output.length > LONGEST_TEXT ||
      changes.length > MOST_DIFFS ||
      diffs.some(({ cut }) => cut),
  };
}

function diffOf(content: Fields): { path: string; before: string; after: string; cut: boolean } {
  const before = textAt(content, 'oldText') ?? '';
  const after = textAt(content, 'newText') ?? '';
  return {
    path: textAt(content, 'path') ?? '',
    before: before.slice(0, LONGEST_DIFF),
    after: after.slice(0, LONGEST_DIFF),
    cut: isLongDiff(content),
  };
}

function cutOffTools(conversation: Conversation): void {
  for (const item of conversation.items.values())
    if (item.kind === 'tool' && (item.status === 'pending' || item.status === 'in_progress'))
      put(conversation, { ...item, status: 'cut-off' });
}

function head(text: string): string {
  return text.slice(0, LONGEST_TEXT);
}
