// How an attempt was started: written before its process, so any instance of the daemon can continue its session.
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import {
  type AgentView,
  addToConversation,
  type ChosenAgent,
  type Conversation,
  costOfWorker,
  fenced,
  itemsAfter,
  newConversation,
  type SessionSetup,
  shownRequest,
  type Worker,
  type WorkerAgent,
} from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { z } from 'zod';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { readInbox } from '../reactions/inbox.ts';
import { type AgentTalk, readSession } from './agent-session.ts';
import { type AgentFiles, agentFiles } from './launch.ts';

const AgentRecord = z.object({
  agent: z.string(),
  /** Why svc cannot talk to it; only for a command line. */
  reason: z.string().nullable(),
  /** Only for an agent that svc talks to. */
  setup: z
    .object({
      cwd: z.string(),
      resume: z.string().nullable(),
      mode: z.string().nullable(),
      model: z.string().nullable(),
      prompt: z.string(),
      continuation: z.string().nullable(),
    })
    .nullable(),
  /** Keys of messages that earlier attempts got. */
  delivered: z.array(z.string()),
});
export type AgentRecord = z.infer<typeof AgentRecord>;

type Attempt = { orchestrator: string; ticket: string; attempt: number };

/** Undefined when there is none: an earlier version started the agent. */
export async function readRecord(
  runsDir: string,
  agent: Attempt,
): Promise<AgentRecord | 'unreadable' | undefined> {
  const text = await ifPresent(readFile(agentFiles(runsDir, agent).record, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return AgentRecord.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return 'unreadable';
    throw error;
  }
}

/** Writes the record and creates the file of sent messages. */
export async function writeRecord(runsDir: string, agent: Attempt, record: AgentRecord): Promise<void> {
  const files = agentFiles(runsDir, agent);
  await writeFileAtomically(files.record, `${JSON.stringify(record)}\n`, { mode: 0o600, folderMode: 0o700 });
  if (record.setup === null) return;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  await (await open(files.sent, flags, 0o600)).close();
}

/** An agent reads its inbox itself when svc cannot talk to it; otherwise its messages are sent to it. */
export async function makeRecord(given: {
  runsDir: string;
  agent: Attempt;
  chosen: ChosenAgent;
  cwd: string;
  inbox: string;
  /** What it is asked to do. */
  prompt: string;
  /** What the board knows of the attempt before this one. */
  previous: WorkerAgent | null;
}): Promise<AgentRecord> {
  const { runsDir, agent, chosen, cwd, inbox, prompt, previous } = given;
  const messages = (await readInbox(inbox)).map(({ key }) => key);
  const before = await deliveredBefore(runsDir, agent);
  if (!chosen.protocol)
    return {
      agent: chosen.name,
      reason: chosen.reason,
      setup: null,
      delivered: [...new Set([...before, ...messages])],
    };
  const isSame = previous?.protocol === true && previous.name === chosen.name;
  const setup: SessionSetup = {
    cwd,
    resume: isSame ? previous.sessionId : null,
    mode: chosen.mode,
    model: chosen.model,
    prompt: firstPrompt(prompt, previous),
    continuation: messages.some((key) => !before.includes(key)) ? null : CONTINUE,
  };
  return { agent: chosen.name, reason: null, setup, delivered: before };
}

const CONTINUE = 'Your process ended before the work was done. Check what is already there, then continue.';

function firstPrompt(prompt: string, previous: WorkerAgent | null): string {
  if (previous === null) return prompt;
  const started =
    'The work was started before, in this worktree and on this branch. Check the commits and changes that are already there, then continue.';
  const last =
    previous.message === null
      ? ''
      : `\nThe last message of the earlier session was:\n${fenced(previous.message)}`;
  return `${prompt}\n${started}${last}`;
}

async function deliveredBefore(runsDir: string, { attempt, ...worker }: Attempt): Promise<string[]> {
  if (attempt === 1) return [];
  const last = { ...worker, attempt: attempt - 1 };
  const record = await readRecord(runsDir, last);
  if (record === undefined) return [];
  const before = record === 'unreadable' ? await deliveredBefore(runsDir, last) : record.delivered;
  if (record !== 'unreadable' && record.setup === null) return before;
  const { keys } = await readSession(agentFiles(runsDir, last), () => undefined);
  return [...new Set([...before, ...keys])];
}

// What is shown of the agent of a ticket: what it does now, and its conversation.

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
  const { state, open: requests, limit } = talk.session();
  // Only the board knows until when a usage limit lasts, and whether a person has stopped the agent since.
  const waits = !talk.isReady() ? ('starting' as const) : limit === null ? state : known.state;
  return { state: state === 'idle' ? waits : state, open: requests.map(shownRequest) };
}

/** Of an attempt that is not followed: it has ended, or this daemon has just started. */
async function readConversation(files: AgentFiles, hasEnded: boolean): Promise<Conversation> {
  const conversation = newConversation();
  await readSession(files, (entry, sessions) => {
    if (hasEnded || entry.from !== 'process') addToConversation(conversation, entry, sessions);
  });
  return conversation;
}
