// What is shown of the agent of a ticket: what it does now, and its conversation.
import {
  type AgentView,
  addToConversation,
  type Conversation,
  costOfWorker,
  itemsAfter,
  newConversation,
  shownRequest,
  type Worker,
  type WorkerAgent,
} from '@svc/core';
import { type AgentTalk, readSession } from './agent-session.ts';
import { type AgentFiles, agentFiles } from './launch.ts';

export async function viewAgent(given: {
  worker: Worker;
  /** Undefined when its process is gone, or when this daemon has just started. */
  followed: { agent: { attempt: number }; talk: AgentTalk | null; conversation: Conversation } | undefined;
  runsDir: string;
  instanceId: string;
  asked: { after: number; instanceId: string | undefined };
}): Promise<AgentView> {
  const { followed, runsDir, asked } = given;
  const { orchestrator, ticket, agent } = given.worker;
  const attempt = followed?.agent.attempt ?? agent?.attempt;
  const isTalk = followed === undefined ? agent?.protocol === true : followed.talk !== null;
  const files =
    isTalk && attempt !== undefined ? agentFiles(runsDir, { orchestrator, ticket, attempt }) : null;
  const conversation =
    followed?.conversation ??
    (files === null ? newConversation() : await readConversation(files, agent?.state === 'ended'));
  const talk = followed?.talk ?? null;
  // The revisions of each start of the agent begin again.
  const instanceId = `${given.instanceId}.${attempt ?? 0}`;
  return {
    ticket,
    orchestrator,
    // What it does now: the log is a moment behind.
    agent:
      agent !== null && talk !== null && agent.attempt === attempt
        ? { ...agent, ...current(talk, agent) }
        : agent,
    cost: costOfWorker(given.worker),
    waiting: talk?.waiting().map(({ text }) => text) ?? [],
    instanceId,
    rev: conversation.rev,
    dropped: conversation.dropped,
    items: itemsAfter(conversation, asked.instanceId === instanceId ? asked.after : 0),
    journal: files?.journal ?? null,
  };
}

/** Before its first prompt an agent is starting, also when its session is open. */
function current(talk: AgentTalk, known: WorkerAgent) {
  const { state, open, limit } = talk.session();
  // Only the board knows until when a usage limit lasts, and whether a person has stopped the agent since.
  const waits = !talk.isReady() ? ('starting' as const) : limit === null ? state : known.state;
  return { state: state === 'idle' ? waits : state, open: open.map(shownRequest) };
}

/** Of an attempt that is not followed: it has ended, or this daemon has just started. */
async function readConversation(files: AgentFiles, hasEnded: boolean): Promise<Conversation> {
  const conversation = newConversation();
  await readSession(files, (entry, sessions) => {
    if (hasEnded || entry.from !== 'process') addToConversation(conversation, entry, sessions);
  });
  return conversation;
}
