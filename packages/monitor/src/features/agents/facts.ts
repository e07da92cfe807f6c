// What the log keeps of a session: turns, tools without their content, requests and their answers, whole messages, changes
// of plan and mode. A small turn is at most 30 events, and the chunks of one message are one event. Each fact has a name
// that is the same whenever the same files are read, so it is logged once.

import { asFields, type Fields, listAt, objectAt, onlyKnown, textAt } from '@svc/contract/payload-fields';
import { cutText } from '@svc/lib/cut-text';
import type { DetailOf, Topic } from '../../kernel/log/topics.ts';
import { isUnpaid } from './limits.ts';
import { markIn } from './messages.ts';
import { changedBy } from './offered.ts';
import { type OpenRequest, shownRequest } from './requests.ts';
import type { AgentEntry, AgentSession } from './session.ts';
import { costCovers } from './tokens.ts';
import { type AgentTool, isToolOver, shortText } from './tools.ts';

const LONGEST_MESSAGE = 4_000;
const LONGEST_PROMPT = 400;

type FactTopic = Extract<Topic, `agent.${string}`>;
export type AgentFact = {
  [Name in FactTopic]: { event: Name; name: string; detail: Omit<DetailOf<Name>, 'attempt'> };
}[FactTopic];

export function agentFacts(entry: AgentEntry, before: AgentSession, after: AgentSession): AgentFact[] {
  const facts: AgentFact[] = [];
  const add = <Name extends FactTopic>(
    event: Name,
    name: string,
    detail: Omit<DetailOf<Name>, 'attempt'>,
  ): void =>
    // Each topic has the detail of its schema by the signature of this function.
    void facts.push({ event, name, detail } as unknown as AgentFact);
  if (before.sessionId === null && after.sessionId !== null)
    add('agent.session.started', 'session', started(before, after));
  if (after.problem !== null && after.problem !== before.problem && after.sessionId === null)
    add('agent.session.failed', 'session', { problem: after.problem });
  if (endsMessage(before, after) && before.message !== null)
    add('agent.message', `message ${before.messages}`, {
      text: cutText(before.message.text, LONGEST_MESSAGE),
    });
  for (const id of after.prompts)
    if (!before.prompts.includes(id)) add('agent.turn.started', `turn ${id}`, turnStarted(entry, id));
  for (const tool of after.tools)
    addTool(
      tool,
      before.tools.find(({ id }) => id === tool.id),
    );
  for (const one of after.open)
    if (!before.open.some(({ number }) => number === one.number))
      add('agent.request.opened', `request ${one.number}`, { request: shownRequest(one) });
  for (const one of before.open)
    if (!after.open.some(({ number }) => number === one.number))
      add('agent.request.answered', `answer ${one.number}`, {
        request: one.request,
        running: after.prompts.length > 0,
        ...answerIn(entry, one),
      });
  if (after.plan !== before.plan)
    add('agent.plan_changed', `plan ${after.plans}`, { entries: [...after.plan] });
  if (before.sessionId !== null && (after.mode !== before.mode || after.model !== before.model))
    add(
      'agent.mode_changed',
      `mode ${after.settings}`,
      onlyKnown({
        mode: after.mode ?? undefined,
        model: after.model ?? undefined,
        by: changedBy(before, after),
      }),
    );
  // Before the end of its turn: an agent that waits for a limit never needs a person in between.
  if (after.limit !== null && after.turns > before.turns) {
    const turn = before.prompts.find((id) => !after.prompts.includes(id)) ?? 0;
    const text = after.lastTurn?.ok === false ? after.lastTurn.reason : shortText(after.limit);
    add('agent.limit.reached', `limit ${turn}`, { turn, text, unpaid: isUnpaid(after.limit) });
  }
  for (const id of before.prompts)
    if (!after.prompts.includes(id)) add('agent.turn.ended', `turn ${id} end`, turnEnded(id, after));
  if (before.exit === null && after.exit !== null)
    add(
      'agent.session.ended',
      'end',
      onlyKnown({ exitCode: after.exit.exitCode ?? undefined, signal: after.exit.signal ?? undefined }),
    );
  return facts;

  function addTool(tool: AgentTool, known: AgentTool | undefined): void {
    if (tool === known) return;
    const detail = {
      tool: tool.id,
      title: shortText(tool.title),
      kind: tool.kind,
      status: tool.status,
      paths: [...tool.paths],
      ...(tool.exitCode !== null && { exitCode: tool.exitCode }),
    };
    const wasOver = known !== undefined && isToolOver(known);
    if (isToolOver(tool) && !wasOver) add('agent.tool.ended', `tool ${tool.id} end`, detail);
    // Announced without a title, as some agents do, it is logged when it has one.
    else if (!isToolOver(tool) && tool.isNamed && known?.isNamed !== true)
      add('agent.tool.started', `tool ${tool.id}`, detail);
  }
}

function started({ pending }: AgentSession, { agent, can, sessionId, mode, model }: AgentSession) {
  const method = Object.values(pending).find((one) =>
    /^session\/(?:new|load|resume)$/.test(one.method),
  )?.method;
  const how = (['resume', 'load'] as const).find((one) => method === `session/${one}`) ?? ('new' as const);
  return {
    agent: agent?.name ?? 'unknown',
    protocol: true,
    how,
    costOf: costCovers(agent?.name),
    ...(can.images && { images: true }),
    ...onlyKnown({
      version: agent?.version ?? undefined,
      sessionId: sessionId ?? undefined,
      mode: mode ?? undefined,
      model: model ?? undefined,
    }),
  };
}

/** A message is complete when another starts, a tool starts, or the turn ends. Thoughts are not logged. */
function endsMessage(before: AgentSession, after: AgentSession): boolean {
  if (before.message?.kind !== 'message' || before.isMessageDone) return false;
  return after.messages !== before.messages || after.isMessageDone;
}

function turnStarted(entry: AgentEntry, turn: number) {
  const message: Fields = entry.from === 'svc' ? entry.message : {};
  // The text of the ticket, before it, is at the tracker.
  const block = listAt(objectAt(message, 'params'), 'prompt').at(-1);
  const text = cutText(textAt(asFields(block) ?? {}, 'text') ?? '', LONGEST_PROMPT);
  return { turn, text, ...onlyKnown({ by: markIn(message).by }) };
}

function turnEnded(turn: number, { lastTurn, exit, tokens, cost, context }: AgentSession) {
  const end = exit === null ? lastTurn : { ok: false, reason: 'the agent ended' };
  return { turn, ok: end?.ok ?? false, reason: end?.reason ?? 'unknown', tokens, cost, context };
}

function answerIn(entry: AgentEntry, { kind }: OpenRequest): { answer: string; by?: string | undefined } {
  if (entry.from === 'process') return { answer: 'cancelled' };
  if (entry.from === 'agent') return { answer: 'withdrawn' };
  const mark = markIn(entry.message);
  const result = objectAt(entry.message, 'result');
  const outcome =
    kind === 'input' ? textAt(result, 'action') : textAt(objectAt(result, 'outcome'), 'outcome');
  return { answer: mark.kind ?? outcome ?? 'unknown', ...onlyKnown({ by: mark.by }) };
}
