// How an attempt was started: written before its process, so any instance of the daemon can continue its session.
import { constants } from 'node:fs';
import { fenced } from '@svc/lib/control-characters';
import { messageOf, systemErrorCode } from '@svc/lib/errors';
import { ifPresent, isMissing } from '@svc/lib/files';
import { openFile, readText } from '@svc/lib/paths';
import { z } from 'zod';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { WorkerAgent } from '../../workers/agent-fields.ts';
import type { Worker } from '../../workers/worker.ts';
import type { AgentView } from '../api.ts';
import type { ChosenAgent } from '../choice.ts';
import {
  addToConversation,
  type Conversation,
  itemsAfter,
  newConversation,
  newestItems,
} from '../conversation.ts';
import { costOfWorker } from '../cost.ts';
import { imageWords } from '../images.ts';
import type { SessionSetup } from '../messages.ts';
import { shownRequest } from '../requests.ts';
import { type AgentTalk, type QueuedMessage, readSession } from './agent-session.ts';
import { readInbox } from './inbox.ts';
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
      /** The text of the ticket, in front of the first prompt; null: its project has no tracker. */
      ticket: z.string().nullable().default(null),
      prompt: z.string(),
      continuation: z.string().nullable(),
    })
    .nullable(),
  /** Keys of messages that earlier attempts got. */
  delivered: z.array(z.string()),
});
export type AgentRecord = z.infer<typeof AgentRecord>;

type Attempt = { orchestrator: string; ticket: string; attempt: number };

/** Undefined when there is none: somebody removed it. */
export async function readRecord(
  runsDir: string,
  agent: Attempt,
): Promise<AgentRecord | 'unreadable' | undefined> {
  const text = await ifPresent(readText(agentFiles(runsDir, agent).record));
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
  await (await openFile(files.sent, { flags: flags, mode: 0o600 })).close();
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
  /** The text of its ticket. */
  ticket: string | null;
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
    ticket: given.ticket,
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

export type AskedView = {
  after: number;
  instanceId?: string | undefined;
  newest?: number | undefined;
  attempt?: number | undefined;
};

export async function viewAgent(given: {
  worker: Worker;
  /** Undefined when its process is gone, or when this daemon has just started. */
  followed: { agent: { attempt: number }; talk: AgentTalk | null; conversation: Conversation } | undefined;
  runsDir: string;
  instanceId: string;
  asked: AskedView;
}): Promise<AgentView> {
  const { runsDir, asked } = given;
  const { orchestrator, ticket, agent } = given.worker;
  const newest = given.followed?.agent.attempt ?? agent?.attempt;
  if (asked.attempt !== undefined && asked.attempt !== newest) return viewEarlier(given, asked.attempt);
  const { followed } = given;
  const attempt = newest;
  const isTalk = followed === undefined ? agent?.protocol === true : followed.talk !== null;
  const files =
    isTalk && attempt !== undefined ? agentFiles(runsDir, { orchestrator, ticket, attempt }) : null;
  const conversation =
    followed?.conversation ??
    (files === null ? newConversation() : await readConversation(files, agent?.state === 'ended'));
  const talk = followed?.talk ?? null;
  // The revisions of each start of the agent begin again.
  const instanceId = `${given.instanceId}.${attempt ?? 0}`;
  // What it does now: the log is a moment behind.
  const shown =
    agent !== null && talk !== null && agent.attempt === attempt
      ? { ...agent, ...current(talk, agent) }
      : agent;
  const all = itemsAfter(conversation, asked.instanceId === instanceId ? asked.after : 0);
  const items = asked.newest === undefined ? all : newestItems(all, asked.newest, shown?.open ?? []);
  return {
    ticket,
    orchestrator,
    agent: shown,
    cost: costOfWorker(given.worker),
    waiting: talk?.waiting().map(waitingText) ?? [],
    attempt: attempt ?? null,
    instanceId,
    rev: conversation.rev,
    dropped: conversation.dropped + all.length - items.length,
    items,
    journal: files?.journal ?? null,
  };
}

/** The conversation of an attempt that is over. Without its files, as of a command line, it is empty. */
async function viewEarlier(
  { worker, runsDir, instanceId }: Parameters<typeof viewAgent>[0],
  attempt: number,
): Promise<AgentView> {
  const { orchestrator, ticket, agent } = worker;
  const files = agentFiles(runsDir, { orchestrator, ticket, attempt });
  const conversation = await readConversation(files, true);
  return {
    ticket,
    orchestrator,
    agent,
    cost: costOfWorker(worker),
    waiting: [],
    attempt,
    instanceId: `${instanceId}.${attempt}`,
    rev: conversation.rev,
    dropped: conversation.dropped,
    items: itemsAfter(conversation, 0),
    journal: conversation.items.size === 0 ? null : files.journal,
  };
}

/** Before its first prompt an agent is starting, also when its session is open. */
function current(talk: AgentTalk, known: WorkerAgent) {
  const { state, open: requests, limit, mode, model, agent, can } = talk.session();
  // Only the board knows until when a usage limit lasts, and whether a person has stopped the agent since.
  const waits = !talk.isReady() ? ('starting' as const) : limit === null ? state : known.state;
  return {
    state: state === 'idle' ? waits : state,
    open: requests.map(shownRequest),
    mode: mode ?? known.mode,
    model: model ?? known.model,
    images: agent === null ? known.images : can.images,
  };
}

function waitingText({ text, images = [] }: QueuedMessage): string {
  return images.length === 0 ? text : `${text}\nAttached: ${images.map(imageWords).join(', ')}`;
}

/** For an attempt that is not followed: it has ended, or this daemon has just started. */
async function readConversation(files: AgentFiles, hasEnded: boolean): Promise<Conversation> {
  const conversation = newConversation();
  try {
    await readSession(files, (entry, sessions) => {
      if (hasEnded || entry.from !== 'process') addToConversation(conversation, entry, sessions);
    });
  } catch (error) {
    if (isMissing(error)) return conversation;
    if (systemErrorCode(error) === undefined) throw error;
    throw new Failure(
      'file-unusable',
      `The conversation of the agent cannot be read: ${messageOf(error)}`,
      `Make them files that you can read: ls -l ${files.sent} ${files.journal}`,
    );
  }
  return conversation;
}
