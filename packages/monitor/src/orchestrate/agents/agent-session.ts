// Talks to one agent through two files that outlive the daemon. What we send is appended to `sent`, which a feeder in the
// agent's own process group copies to its standard input: a line is sent exactly when it is in the file, whatever happens
// to the daemon before or after. What the agent writes is appended to its journal by the system. The session is folded
// from both files, in the order in which things happened; after a restart they are read again from the beginning.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import {
  type AgentEntry,
  type AgentSession,
  cancelNotice,
  dueRequest,
  type Fields,
  foldAgent,
  jsonIn,
  methodNotFound,
  newAgentSession,
  type OptionKind,
  permissionAnswer,
  positionIn,
  promptRequest,
  type Request,
  type SessionWish,
  textAt,
  withPosition,
} from '@svc/core';
import { every } from '@svc/lib/rounds';
import { createLineReader } from './line-reader.ts';

const READ_EVERY_MS = 50;
const CHUNK = 256 * 1024;
/** Agents write what a command printed as one line. A longer one is left out. */
const LONGEST_LINE = 32 * 1024 * 1024;
const NEWLINE = 0x0a;
const appending = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Requests of the agent that a person answers. Everything else is refused at once. */
const forPeople = new Set(['session/request_permission']);

export type AgentTalk = {
  session: () => AgentSession;
  /** Sends another message when the agent is idle; the id of the prompt. */
  prompt: (text: string) => Promise<number>;
  answer: (requestId: string, kind: OptionKind) => Promise<'sent' | 'not-open' | 'no-such-option'>;
  /** Ends the turn, and every open request with it. */
  cancel: () => Promise<void>;
  /** Reads what is there now. */
  readOn: () => Promise<void>;
  /** Ends the reading, not the agent. */
  stop: () => Promise<void>;
};

export async function talkToAgent(given: {
  files: { sent: string; journal: string };
  wish: SessionWish;
  /** Each line in its order, with the session after it. Those of before a restart come again. */
  onEntry?: (entry: AgentEntry, session: AgentSession) => void;
  onProblem: (error: unknown) => void;
}): Promise<AgentTalk> {
  const { files, wish, onEntry, onProblem } = given;
  const outgoing = await open(files.sent, appending, 0o600);
  const before = await readSent(outgoing);
  let session = newAgentSession;
  /** Of the journal: how much was read, and what of it was folded. */
  let offset = 0;
  let folded = 0;
  /** Written before this start and not folded yet. */
  const waiting = [...before.messages];
  const methods: string[] = [];
  let lines = before.lines;
  let appends: Promise<unknown> = Promise.resolve();
  const reader = createLineReader(LONGEST_LINE);

  function take(entry: AgentEntry): void {
    session = foldAgent(session, entry);
    if (entry.from === 'svc') {
      const method = textAt(entry.message, 'method');
      if (method !== undefined) methods.push(method);
    }
    onEntry?.(entry, session);
  }

  function takeSentUpTo(position: number): void {
    while (waiting[0] !== undefined && positionIn(waiting[0]) <= position) {
      const message = waiting.shift();
      if (message !== undefined) take({ from: 'svc', message });
    }
  }

  /** One after another, each durable before it counts. */
  function send(make: () => Fields | undefined): Promise<boolean> {
    const work = appends.then(async () => {
      const message = make();
      if (message === undefined) return false;
      const line = withPosition(message, folded);
      await outgoing.appendFile(`${JSON.stringify(line)}\n`);
      await outgoing.datasync();
      lines += 1;
      take({ from: 'svc', message: line });
      return true;
    });
    appends = work.catch(() => undefined);
    return work;
  }

  const request = ({ method, params }: Request): Fields => ({ id: lines, method, params });

  /** What the agent waits for: an answer to a request that is not for people, and the next step of the beginning. */
  async function goOn(unanswered: readonly Fields[]): Promise<void> {
    for (const message of unanswered)
      await send(() =>
        session.answered.includes(JSON.stringify(message['id'])) ? undefined : methodNotFound(message),
      );
    const due = (): Fields | undefined => {
      const next = dueRequest(session, wish, methods);
      return next === null ? undefined : request(next);
    };
    while (await send(due));
  }

  async function readJournal(): Promise<void> {
    const unanswered: Fields[] = [];
    const handle = await open(files.journal, reading);
    try {
      const { size } = await handle.stat();
      const chunk = Buffer.alloc(CHUNK);
      while (offset < size) {
        const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK, size - offset), offset);
        if (bytesRead === 0) break;
        reader.add(chunk.subarray(0, bytesRead), (line, end) => {
          takeSentUpTo(folded);
          folded = offset + end;
          const message = jsonIn(line);
          if (message === undefined) return;
          take({ from: 'agent', message });
          const method = textAt(message, 'method');
          if (method !== undefined && message['id'] !== undefined && !forPeople.has(method))
            unanswered.push(message);
        });
        offset += bytesRead;
      }
    } finally {
      await handle.close();
    }
    // What was sent last had read as much as there was.
    takeSentUpTo(Number.POSITIVE_INFINITY);
    await goOn(unanswered);
  }

  const rounds = every(READ_EVERY_MS, readJournal, onProblem);
  return {
    session: () => session,
    async prompt(text) {
      let id = -1;
      await send(() => {
        if (session.sessionId === null) return undefined;
        id = lines;
        return request(promptRequest(session.sessionId, text));
      });
      return id;
    },
    async answer(requestId, kind) {
      if (!session.open.some((one) => one.requestId === requestId)) return 'not-open';
      if (permissionAnswer(session, requestId, kind) === undefined) return 'no-such-option';
      return (await send(() => permissionAnswer(session, requestId, kind))) ? 'sent' : 'not-open';
    },
    async cancel() {
      await send(() => (session.sessionId === null ? undefined : cancelNotice(session.sessionId)));
      for (const { requestId } of session.open)
        await send(() => permissionAnswer(session, requestId, 'cancelled'));
    },
    readOn: rounds.runAfresh,
    async stop() {
      await rounds.stop();
      await appends;
      await outgoing.close();
    },
  };
}

/** What was sent before. A line that was cut off was never read as one: it is ended, and what it said is sent again. */
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
