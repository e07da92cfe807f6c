// Talks to one agent through two files that outlive the daemon. What we send is appended to `sent`, which a feeder in the
// agent's own process group copies to its standard input: a line is sent exactly when it is in the file, whatever happens
// to the daemon before or after. What the agent writes is appended to its journal by the system. The session is folded
// from both files, in the order in which things happened; after a restart they are read again from the start.
import { constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import {
  type AgentEntry,
  type AgentSession,
  type Answer,
  answerTo,
  cancelNotice,
  dueRequest,
  type Fields,
  foldAgent,
  isForPeople,
  isReady,
  jsonIn,
  type Mark,
  markIn,
  methodNotFound,
  newAgentSession,
  objectAt,
  promptRequest,
  requestName,
  type SessionSetup,
  steeringRequest,
  textAt,
  withMark,
} from '@svc/core';
import { every } from '@svc/lib/rounds';
import { createLineReader, type ReadLine } from './line-reader.ts';

/** A change of the journal shortens the wait. */
const READ_EVERY_MS = 1_000;
/** Chunks arrive in bursts: they are read together. */
const GATHER_MS = 20;
const CHUNK = 256 * 1024;
/** Agents write what a command printed as one line. Of a longer update only the start is used. */
const LONGEST_UPDATE = 1024 * 1024;
const LONGEST_LINE = 32 * 1024 * 1024;
const NEWLINE = 0x0a;
const appending = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type QueuedMessage = { key: string; text: string; by: string | null };

export type AgentTalk = {
  session: () => AgentSession;
  /** Whether the first prompt was sent, or the session is waiting for messages. */
  isReady: () => boolean;
  /** Bytes of the journal that were read. */
  read: () => number;
  answer: (given: {
    request: string;
    answer: Answer;
    by: string;
    content?: Fields | undefined;
  }) => Promise<'sent' | 'not-open' | 'not-offered'>;
  /** Ends the turn, and every open request with it. */
  cancel: (by: string) => Promise<void>;
  /** Reads what is there now, and sends what is due. */
  goOn: () => Promise<void>;
  /** The process is gone: reads what it left and ends the session. */
  end: (how: { exitCode: number | null; signal: string | null } | null) => Promise<void>;
  /** Ends the reading, not the agent. */
  stop: () => Promise<void>;
};

export async function talkToAgent(given: {
  files: { sent: string; journal: string };
  setup: SessionSetup;
  /** Messages for the agent, oldest first. One is sent when the agent can take it, and once by its key. */
  messages: () => readonly QueuedMessage[];
  /** Each line in its order. Those from before a restart are passed again. */
  onEntry?: (entry: AgentEntry, sessions: { before: AgentSession; after: AgentSession }) => void;
  onProblem: (error: unknown) => void;
}): Promise<AgentTalk> {
  const { files, setup, messages, onEntry, onProblem } = given;
  const outgoing = await open(files.sent, appending, 0o600);
  const before = await readSent(outgoing);
  let session = newAgentSession;
  /** Of the journal: how much was read, and how much of that was folded. */
  let offset = 0;
  let folded = 0;
  /** Sent before this start and not folded yet. */
  const unfolded = [...before.messages];
  const sent: string[] = [];
  const sentKeys = new Set<string>();
  let lines = before.lines;
  let appends: Promise<unknown> = Promise.resolve();
  const reader = createLineReader(LONGEST_LINE);
  let watcher: FSWatcher | undefined;
  let gathering: NodeJS.Timeout | undefined;

  function fold(entry: AgentEntry): void {
    const last = session;
    session = foldAgent(session, entry);
    if (entry.from === 'svc') {
      const method = textAt(entry.message, 'method');
      if (method !== undefined) sent.push(requestName(method, objectAt(entry.message, 'params')));
      const { key } = markIn(entry.message);
      if (key !== undefined) sentKeys.add(key);
    }
    onEntry?.(entry, { before: last, after: session });
  }

  function foldSentUpTo(position: number): void {
    while (unfolded[0] !== undefined && markIn(unfolded[0]).read <= position) {
      const message = unfolded.shift();
      if (message !== undefined) fold({ from: 'svc', message });
    }
  }

  /** One after another, each durable before it counts. */
  function send(make: () => { message: Fields; mark?: Omit<Mark, 'read'> } | undefined): Promise<boolean> {
    const work = appends.then(async () => {
      const made = make();
      if (made === undefined) return false;
      const line = withMark(made.message, { read: folded, ...made.mark });
      await outgoing.appendFile(`${JSON.stringify(line)}\n`);
      await outgoing.datasync();
      lines += 1;
      fold({ from: 'svc', message: line });
      return true;
    });
    appends = work.catch(() => undefined);
    return work;
  }

  /** When it is idle, or at once if it takes messages while it works. */
  function nextMessage(): { message: Fields; mark: Omit<Mark, 'read'> } | undefined {
    const { sessionId, refused, state, can } = session;
    if (sessionId === null || !isReady(session, setup, sent)) return undefined;
    const next = messages().find(({ key }) => !sentKeys.has(key) || refused.includes(key));
    if (next === undefined) return undefined;
    const isSteered = state === 'running' && can.steer && !refused.includes(next.key);
    if (state !== 'idle' && !isSteered) return undefined;
    const request = (isSteered ? steeringRequest : promptRequest)(sessionId, next.text);
    return { message: { id: lines, ...request }, mark: { key: next.key, by: next.by ?? undefined } };
  }

  function due(): { message: Fields; mark?: Omit<Mark, 'read'> } | undefined {
    const next = dueRequest(session, setup, sent);
    return next === null ? nextMessage() : { message: { id: lines, ...next } };
  }

  /** Every request of the agent gets an answer, and the agent gets what is due. */
  async function respond(unanswered: readonly Fields[]): Promise<void> {
    for (const message of unanswered)
      await send(() =>
        session.answered.includes(JSON.stringify(message['id']))
          ? undefined
          : { message: methodNotFound(message) },
      );
    while (session.exit === null && (await send(due)));
  }

  async function readJournal(): Promise<void> {
    const unanswered: Fields[] = [];
    const handle = await open(files.journal, reading);
    try {
      const { size } = await handle.stat();
      const chunk = Buffer.alloc(Math.min(CHUNK, Math.max(1, size - offset)));
      while (offset < size) {
        const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, size - offset), offset);
        if (bytesRead === 0) break;
        reader.add(chunk.subarray(0, bytesRead), (line, read) => {
          foldSentUpTo(folded);
          folded = offset + read.end;
          const message = messageIn(line, read);
          if (message === undefined) return;
          fold({ from: 'agent', message });
          const isRequest = textAt(message, 'method') !== undefined && message['id'] !== undefined;
          if (isRequest && !isForPeople(message)) unanswered.push(message);
        });
        offset += bytesRead;
      }
    } finally {
      await handle.close();
    }
    foldSentUpTo(Number.POSITIVE_INFINITY);
    await respond(unanswered);
  }

  const rounds = every(READ_EVERY_MS, readJournal, onProblem);
  function wake(): void {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      void rounds.runAfresh();
    }, GATHER_MS);
  }
  try {
    watcher = watch(files.journal, { persistent: false }, wake);
    // Without it the journal is still read every second.
    watcher.on('error', onProblem);
  } catch (error) {
    onProblem(error);
  }
  void rounds.runNow();

  return {
    session: () => session,
    isReady: () => isReady(session, setup, sent),
    read: () => offset,
    async answer({ request, answer, by, content }) {
      if (!session.open.some((one) => one.request === request)) return 'not-open';
      if (answerTo(session, request, answer, content) === undefined) return 'not-offered';
      const isSent = await send(() => {
        const message = answerTo(session, request, answer, content);
        return message && { message, mark: { by, kind: answer } };
      });
      return isSent ? 'sent' : 'not-open';
    },
    async cancel(by) {
      await send(() =>
        session.sessionId === null ? undefined : { message: cancelNotice(session.sessionId), mark: { by } },
      );
      for (const { request } of session.open)
        await send(() => {
          const message = answerTo(session, request, 'cancelled');
          return message && { message, mark: { by, kind: 'cancelled' } };
        });
    },
    goOn: rounds.runAfresh,
    async end(how) {
      await rounds.runAfresh();
      if (session.exit === null) fold({ from: 'process', ended: how });
    },
    async stop() {
      watcher?.close();
      clearTimeout(gathering);
      await rounds.stop();
      await appends;
      await outgoing.close();
    },
  };
}

/** Of an update that is too long, what its start shows: which tool it is about, and its state. */
function messageIn(line: string, { isWhole, size }: ReadLine): Fields | undefined {
  const isUpdate = line.slice(0, 512).includes('"session/update"');
  if (isWhole && (size <= LONGEST_UPDATE || !isUpdate)) return jsonIn(line);
  const head = line.slice(0, 4_096);
  const [, toolCallId] = /"toolCallId":"([^"\\]{1,200})"/.exec(head) ?? [];
  const [, status] = /"status":"(\w{1,20})"/.exec(head) ?? [];
  if (toolCallId === undefined) return undefined;
  const text = `${size} bytes, see the journal`;
  const content = [{ type: 'content', content: { type: 'text', text } }];
  const update = { sessionUpdate: 'tool_call_update', toolCallId, status, content };
  return { method: 'session/update', params: { update } };
}

/** A line that was cut off by a crash was never read as one: it is ended, and its content is sent again. */
async function readSent(handle: FileHandle): Promise<{ messages: Fields[]; lines: number }> {
  const bytes = await handle.readFile();
  if (bytes.length > 0 && bytes.at(-1) !== NEWLINE) {
    await handle.appendFile('\n');
    await handle.datasync();
  }
  const lines = bytes.toString('utf8').split('\n').filter(Boolean);
  const messages = lines.map(jsonIn).filter((message) => message !== undefined);
  return { messages, lines: lines.length };
}
