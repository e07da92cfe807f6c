// Talks to one agent through two files that outlive the daemon. What we send is appended to `sent`, which a feeder in the
// agent's own process group copies to its standard input: a line is sent exactly when it is in the file, whatever happens
// to the daemon before or after. What the agent writes is appended to its journal by the system. The session is folded
// from both files, in the order in which things happened; after a restart they are read again from the start.
import { constants, type FSWatcher } from 'node:fs';
import { type Fields, jsonIn, objectAt, textAt } from '@svc/contract/payload-fields';
import { openFile, watch } from '@svc/lib/paths';
import { every } from '@svc/lib/rounds';
import { within } from '@svc/lib/timeout';
import { createLineReader, type ReadLine } from '../line-reader.ts';
import {
  type Answer,
  answerTo,
  cancelNotice,
  dueRequest,
  isReady,
  type Mark,
  markIn,
  methodNotFound,
  promptRequest,
  requestName,
  type SessionSetup,
  startProblem,
  steeringRequest,
  tooManyRequests,
  withMark,
  withoutImageData,
} from '../messages.ts';
import { CHOSEN, changeRequest, type Setting } from '../offered.ts';
import { isForPeople } from '../requests.ts';
import type { AttachedImage } from '../schemas.ts';
import { type AgentEntry, type AgentSession, foldAgent, newAgentSession } from '../session.ts';
import type { SentImages } from './image-files.ts';
import { openSent, readSent } from './sent-file.ts';

/** A change of the journal shortens the wait. */
const READ_EVERY_MS = 1_000;
/** Chunks arrive in bursts: they are read together. */
const GATHER_MS = 20;
/** How long a person waits for the agent to confirm a setting. */
const ANSWER_MS = 10_000;
const CHUNK = 256 * 1024;
/** Agents write what a command printed as one line. Of a longer update only the start is used. */
const LONGEST_UPDATE = 1024 * 1024;
const LONGEST_LINE = 32 * 1024 * 1024;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type SessionFiles = { sent: string; journal: string };
export type QueuedMessage = {
  key: string;
  text: string;
  by: string | null;
  images?: readonly AttachedImage[];
};

type Outgoing = { message: Fields; mark?: Omit<Mark, 'read'> };
export const noImages: SentImages = { sent: [], images: [], notes: [] };

export type AgentTalk = {
  session: () => AgentSession;
  /** Why the agent cannot be given its work; null while it starts, and when it has started. */
  startProblem: () => string | null;
  /** Whether the first prompt was sent, or the session is waiting for messages. */
  isReady: () => boolean;
  /** Messages that were not sent yet. */
  waiting: () => QueuedMessage[];
  /** Those that may be sent: at a usage limit only those of a person, and the one that continues. */
  sendable: () => QueuedMessage[];
  /** Bytes of the journal that were read. */
  read: () => number;
  /**
   * Another program has cut or replaced the journal, or written to what svc has sent: what the agent does cannot be known
   * any more.
   */
  changedFile: () => keyof SessionFiles | null;
  /** What was to be sent does not fit any more. */
  isFull: () => boolean;
  answer: (given: {
    request: string;
    answer: Answer;
    by: string;
    /** The same answer with the same key again changes nothing. */
    key?: string | undefined;
    content?: Fields | undefined;
  }) => Promise<'sent' | 'not-open' | 'not-offered'>;
  /** Asks the agent for another mode or model. `refused` has its reason. */
  change: (given: {
    setting: Setting;
    value: string;
    by: string;
    key?: string | undefined;
  }) => Promise<{ state: 'confirmed' | 'not-offered' | 'no-answer' } | { state: 'refused'; reason: string }>;
  /** Ends the turn, and every open request with it. */
  cancel: (by: string) => Promise<void>;
  /** Reads what is there now, and sends what is due. */
  goOn: () => Promise<void>;
  /** The process is gone: reads what it left and ends the session. */
  end: (how: { exitCode: number | null; signal: string | null } | null) => Promise<void>;
  /** Ends the reading, not the agent. */
  stop: () => Promise<void>;
};

type OnEntry = (entry: AgentEntry, sessions: { before: AgentSession; after: AgentSession }) => void;

/** Folds the journal and what was sent, in the order in which things happened. */
function createFolding({
  journal,
  sent,
  onEntry,
}: {
  journal: string;
  sent: readonly Fields[];
  onEntry: OnEntry;
}) {
  const reader = createLineReader(LONGEST_LINE);
  /** Sent before this start and not folded yet. */
  const unfolded = [...sent];
  const names: string[] = [];
  const keys = new Set<string>();
  /** Keys after which the agent has written nothing: it may not have read them. */
  const unseen = new Set<string>();
  let session = newAgentSession;
  /** How much of the journal was read, and how much of that was folded. */
  let offset = 0;
  let folded = 0;
  let inode: number | undefined;
  let isChanged = false;

  function fold(entry: AgentEntry): void {
    const before = session;
    session = foldAgent(session, entry);
    if (entry.from === 'svc') {
      const method = textAt(entry.message, 'method');
      if (method !== undefined) names.push(requestName(method, objectAt(entry.message, 'params')));
      const { key } = markIn(entry.message);
      if (key !== undefined) {
        keys.add(key);
        unseen.add(key);
      }
    } else if (entry.from === 'agent') unseen.clear();
    onEntry(entry, { before, after: session });
  }

  function foldSentUpTo(position: number): void {
    while (unfolded[0] !== undefined && markIn(unfolded[0]).read <= position) {
      const message = unfolded.shift();
      if (message !== undefined) fold({ from: 'svc', message });
    }
  }

  return {
    session: () => session,
    /** The names of our requests so far, and the keys of messages. */
    names: () => names,
    keys: () => keys,
    seenKeys: () => [...keys].filter((key) => !unseen.has(key) && !session.refused.includes(key)),
    offset: () => offset,
    isChanged: () => isChanged,
    folded: () => folded,
    fold,
    /** Returns the answers to the agent's requests that no person can answer. */
    async read(): Promise<Fields[]> {
      const requests: Fields[] = [];
      const handle = await openFile(journal, { flags: reading });
      try {
        const { size, ino } = await handle.stat();
        isChanged ||= size < offset || ino !== (inode ?? ino);
        inode = ino;
        if (isChanged) return requests;
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
            if (!isRequest) return;
            const isOpen = session.open.some(({ request }) => request === JSON.stringify(message['id']));
            if (!isForPeople(message)) requests.push(methodNotFound(message));
            else if (!isOpen) requests.push(tooManyRequests(message));
          });
          offset += bytesRead;
        }
      } finally {
        await handle.close();
      }
      foldSentUpTo(Number.POSITIVE_INFINITY);
      return requests;
    },
  };
}

/** A session whose process is gone, as its files show it, and the keys of the messages that it got. */
export async function readSession(files: SessionFiles, onEntry: OnEntry): Promise<{ keys: string[] }> {
  const { messages } = await readSent(files.sent);
  const folding = createFolding({ journal: files.journal, sent: messages, onEntry });
  await folding.read();
  folding.fold({ from: 'process', ended: null });
  return { keys: folding.seenKeys() };
}

export async function talkToAgent(given: {
  files: SessionFiles;
  setup: SessionSetup;
  /** Messages for the agent, oldest first. One is sent when the agent can take it, and once by its key. */
  messages: () => readonly QueuedMessage[];
  /** Those that can be sent; `isTaken`: to this agent. */
  readImages: (images: readonly AttachedImage[], isTaken: boolean) => Promise<SentImages>;
  /** Whether a turn may be started now. */
  mayStart?: () => boolean;
  /** Each line in its order. Those from before a restart are passed again. */
  onEntry?: OnEntry;
  onProblem: (error: unknown) => void;
}): Promise<AgentTalk> {
  const {
    files,
    setup,
    messages,
    readImages,
    mayStart = () => true,
    onEntry = () => undefined,
    onProblem,
  } = given;
  const outgoing = await openSent(files.sent);
  /** Called with the agent's answers to our requests, by id. */
  const answers = new Map<unknown, (message: Fields) => void>();
  const folding = createFolding({
    journal: files.journal,
    sent: outgoing.messages,
    onEntry(entry, sessions) {
      onEntry(entry, sessions);
      if (entry.from !== 'agent' || entry.message['method'] !== undefined) return;
      const { id } = entry.message;
      answers.get(id)?.(entry.message);
      answers.delete(id);
    },
  });
  const { session, names } = folding;
  let { lines, isForeign } = outgoing;
  let isFull = false;
  let isOver = false;
  let appends: Promise<unknown> = Promise.resolve();
  let watcher: FSWatcher | undefined;
  let gathering: NodeJS.Timeout | undefined;

  /** One after another, each durable before it counts. */
  function send(make: () => Outgoing | undefined | Promise<Outgoing | undefined>): Promise<boolean> {
    const work = appends.then(async () => {
      isForeign ||= await outgoing.look();
      const made = isForeign ? undefined : await make();
      if (made === undefined) return false;
      const message = withMark(made.message, { read: folding.folded(), ...made.mark });
      const line = `${JSON.stringify(message)}\n`;
      isFull ||= !outgoing.hasRoom(line);
      if (isFull) return false;
      await outgoing.append(line);
      lines += 1;
      folding.fold({ from: 'svc', message: withoutImageData(message) });
      return true;
    });
    appends = work.catch(() => undefined);
    return work;
  }

  function waiting(): QueuedMessage[] {
    const { refused } = session();
    return messages().filter(({ key }) => !folding.keys().has(key) || refused.includes(key));
  }

  function sendable(): QueuedMessage[] {
    if (!mayStart()) return [];
    return session().limit === null ? waiting() : waiting().filter(({ by }) => by !== null);
  }

  /** When it is idle, or at once if it takes messages while it works. */
  async function nextMessage(): Promise<Outgoing | undefined> {
    const { sessionId, refused, state, can } = session();
    if (sessionId === null || !isReady(session(), setup, names())) return undefined;
    const [next] = sendable();
    if (next === undefined) return undefined;
    const { key, text, by, images = [] } = next;
    // Agents that take messages while they work promise nothing about images in them.
    const isSteered = state === 'running' && can.steer && !refused.includes(key) && images.length === 0;
    if (state !== 'idle' && !isSteered) return undefined;
    const mark = { key, by: by ?? undefined };
    if (isSteered) return { message: { id: lines, ...steeringRequest(sessionId, [text]) }, mark };
    const read = images.length === 0 ? noImages : await readImages(images, can.images);
    // The process may have ended meanwhile.
    if (isOver) return undefined;
    const request = promptRequest(sessionId, [...read.notes, text], read.images);
    return {
      message: { id: lines, ...request },
      mark: read.sent.length > 0 ? { ...mark, images: read.sent } : mark,
    };
  }

  function due(): Outgoing | undefined | Promise<Outgoing | undefined> {
    const next = dueRequest(session(), setup, names());
    if (next?.method === 'session/prompt' && !mayStart()) return undefined;
    return next === null ? nextMessage() : { message: { id: lines, ...next }, mark: { by: 'svc' } };
  }

  /** Every request of the agent gets an answer, and the agent gets what is due. */
  async function goOn(): Promise<void> {
    isForeign ||= await outgoing.look();
    const requests = await folding.read();
    // Nothing is sent to a process that is gone: it would count as sent.
    for (const message of requests)
      await send(() =>
        isOver || session().answered.includes(JSON.stringify(message['id'])) ? undefined : { message },
      );
    while (session().exit === null && (await send(() => (isOver ? undefined : due()))));
  }

  const rounds = every(READ_EVERY_MS, goOn, onProblem);
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
    session,
    startProblem: () => startProblem(session(), setup, names()),
    isReady: () => isReady(session(), setup, names()),
    waiting,
    sendable,
    read: folding.offset,
    isFull: () => isFull,
    changedFile: () => (isForeign ? 'sent' : folding.isChanged() ? 'journal' : null),
    async answer({ request, answer, by, key, content }) {
      const make = (): Fields | undefined => answerTo(session(), request, answer, content);
      if (key !== undefined && folding.keys().has(key)) return 'sent';
      if (!session().open.some((one) => one.request === request)) return 'not-open';
      if (make() === undefined) return 'not-offered';
      const isSent = await send(() => {
        const message = make();
        return message && { message, mark: { by, key, kind: answer } };
      });
      return isSent ? 'sent' : 'not-open';
    },
    async change({ setting, value, by, key }) {
      if (key !== undefined && folding.keys().has(key))
        return { state: session()[setting] === value ? 'confirmed' : 'no-answer' };
      const answered = Promise.withResolvers<Fields>();
      const isSent = await send(() => {
        const request = isOver ? null : changeRequest(session(), setting, value);
        if (request === null) return undefined;
        answers.set(lines, answered.resolve);
        return { message: { id: lines, ...request }, mark: { by, key, kind: CHOSEN } };
      });
      if (!isSent) return { state: 'not-offered' };
      const answer = await within(answered.promise, ANSWER_MS, () => undefined);
      if (session()[setting] === value) return { state: 'confirmed' };
      if (answer === undefined) return { state: 'no-answer' };
      const reason = textAt(objectAt(answer, 'error'), 'message');
      return { state: 'refused', reason: reason ?? 'it did not change it' };
    },
    async cancel(by) {
      await send(() => {
        const { sessionId } = session();
        return sessionId === null ? undefined : { message: cancelNotice(sessionId), mark: { by } };
      });
      for (const { request } of session().open)
        await send(() => {
          const message = answerTo(session(), request, 'cancelled');
          return message && { message, mark: { by, kind: 'cancelled' } };
        });
    },
    goOn: rounds.runAfresh,
    async end(how) {
      isOver = true;
      await rounds.runAfresh();
      if (session().exit === null) folding.fold({ from: 'process', ended: how });
    },
    async stop() {
      isOver = true;
      watcher?.close();
      clearTimeout(gathering);
      await rounds.stop();
      await appends;
      await outgoing.close();
    },
  };
}

/** For an update that is too long, what its start shows: which tool it is about, and its state. */
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
