// One subscription for all answers of a connection. A request costs a map entry and a counter as its token:
// no subscription, no timer and no stack of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { createInbox, type Msg } from '@nats-io/nats-core';
import type { Connection } from './connection.ts';
import { encodeOutgoing, type OutgoingMessage, type Payload } from './outgoing.ts';

const TICK_MS = 40;
/** When so long nothing was heard although something is waited for, the server is asked whether it lives. */
const SILENT_MS = 1500;
const ALIVE_WITHIN_MS = 1000;
/** So much is sent without waiting for the end of the turn, which bounds the piece of memory that it is put into.
    Pieces of 64 KB were measured too: they cost more. */
const SEND_BYTES = 1024 * 1024;
/** Room for the headers of any message of ours; the server's limit counts them. */
export const HEADERS_BYTES = 1024;

/** One that waits for answers. `due` may be changed at any time; `onDue` is called when it has passed. */
type Waiting = {
  due: number;
  onReply: (message: Msg) => void;
  onDue: (now: number) => void;
};

export type ReplyInbox = {
  /** The subject to which answers come. */
  wait: (waiting: Waiting) => string;
  forget: (reply: string) => void;
  /** False, and nothing sent, while there is no connection: the library would keep it without bound. Nor is
      anything sent that this server would take for too long and cut the connection. What was to be sent when
      the connection is lost in the same turn is lost with it, like what was on its way. */
  send: (subject: string, payload: Payload, reply: string, headers?: string) => boolean;
  /** The first answer, also one that says no. Undefined when none came in time, asked every `againMs`. */
  request: (
    subject: string,
    payload: string,
    timeoutMs: number,
    againMs?: number,
  ) => Promise<Msg | undefined>;
  waiting: () => number;
  /** Nothing is waited for any more; the subscription goes with the connection. */
  close: () => void;
};

export function createReplyInbox(connection: Connection): ReplyInbox {
  const { nats } = connection;
  const base = `${createInbox()}.`;
  const all = new Map<string, Waiting>();
  let outgoing: OutgoingMessage[] = [];
  let outgoingBytes = 0;
  let connected = connection.state().connected;
  let counter = 0;
  let lastHeard = 0;
  /** Being asked whether it lives: nothing is sent into a connection that may be dead. */
  let doubted = false;
  let timer: NodeJS.Timeout | undefined;

  nats.subscribe(`${base}*`, {
    callback: (error, message) => {
      lastHeard = performance.now();
      if (error === null) all.get(message.subject)?.onReply(message);
    },
  });
  connection.onChange((now) => {
    connected = now;
  });

  function tick(): void {
    const now = performance.now();
    if (now - lastHeard > SILENT_MS && connected && !doubted) void askWhetherItLives();
    for (const waiting of all.values()) if (waiting.due <= now) waiting.onDue(now);
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /**
   * A connection can be dead without being closed: a frozen machine, a lost route. Pings of their own would
   * notice later than any sender waits. So another server is tried.
   */
  async function askWhetherItLives(): Promise<void> {
    doubted = true;
    const alive = nats.flush().then(
      () => true,
      () => true,
    );
    const late = sleep(ALIVE_WITHIN_MS, false, { ref: false });
    if (!(await Promise.race([alive, late])) && connected && !nats.isClosed()) await nats.reconnect();
    lastHeard = performance.now();
    doubted = false;
  }

  function wait(waiting: Waiting): string {
    if (all.size === 0) lastHeard = performance.now();
    counter += 1;
    const reply = base + counter.toString(36);
    all.set(reply, waiting);
    timer ??= setInterval(tick, TICK_MS);
    return reply;
  }

  function send(subject: string, payload: Payload, reply: string, headers = ''): boolean {
    if (!connected || doubted || nats.isClosed() || !fits(payload)) return false;
    outgoingBytes += payload.length;
    const waiting = outgoing.push({ subject, payload, reply, headers });
    if (outgoingBytes >= SEND_BYTES) sendOutgoing();
    else if (waiting === 1) setImmediate(sendOutgoing);
    return true;
  }

  function sendOutgoing(): void {
    // The library may be connected to another server since, which takes less.
    const messages = outgoing.every(({ payload }) => fits(payload))
      ? outgoing
      : outgoing.filter(({ payload }) => fits(payload));
    outgoing = [];
    outgoingBytes = 0;
    if (connected && !nats.isClosed() && messages.length > 0) connection.write(encodeOutgoing(messages));
  }

  function fits({ length }: Payload): boolean {
    return length + HEADERS_BYTES <= (nats.info?.max_payload ?? Number.POSITIVE_INFINITY);
  }

  return {
    wait,
    forget: (reply) => void all.delete(reply),
    send,
    request: (subject, payload, timeoutMs, againMs = timeoutMs) =>
      new Promise((resolve) => {
        const end = performance.now() + timeoutMs;
        const finish = (message: Msg | undefined): void => {
          all.delete(reply);
          resolve(message);
        };
        const ask = (now: number): boolean => {
          waiting.due = Math.min(end, now + againMs);
          return send(subject, Buffer.from(payload), reply);
        };
        const onDue = (now: number): void => void (now < end ? ask(now) : finish(undefined));
        const waiting = { due: end, onReply: finish, onDue };
        const reply = wait(waiting);
        if (!ask(performance.now())) finish(undefined);
      }),
    waiting: () => all.size,
    close() {
      clearInterval(timer);
      all.clear();
    },
  };
}
