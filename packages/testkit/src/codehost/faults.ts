// Faults on command: what the code host, or the network, does wrong with the next requests.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, notAdmin, notFound, Refusal } from './answer.ts';

export type CodehostFault =
  | { kind: 'unauthorised' }
  | { kind: 'no-admin' }
  | { kind: 'not-found' }
  /** The secondary limit: 403 and, unless omitted, Retry-After in seconds. */
  | { kind: 'rate-limited'; retryAfter?: number }
  | { kind: 'server-error'; status: number }
  /** The answer is delayed by this time. */
  | { kind: 'slow'; ms: number }
  /** 200 with this text instead of the answer; it keeps the Link header of the page. */
  | { kind: 'body'; text: string }
  /** The connection closes: without an answer, or in the middle of it. */
  | { kind: 'cut'; when: 'before' | 'within' };

/** Which requests: a part of `METHOD /path?query` and the kind of the call behind it, or a pattern for it. */
type FaultTarget = { on?: string | RegExp; times?: number };

type Planned = { fault: CodehostFault; on: string | RegExp | undefined; left: number };

export type FaultPlan = {
  failNext: (fault: CodehostFault, target?: FaultTarget) => void;
  take: (line: string) => CodehostFault | undefined;
  restore: () => void;
};

export function createFaultPlan(): FaultPlan {
  const planned: Planned[] = [];
  return {
    failNext(fault, { on, times = 1 } = {}) {
      planned.push({ fault, on, left: times });
    },
    take(line) {
      const next = planned.find(({ on, left }) => left > 0 && isOn(line, on));
      if (next === undefined) return undefined;
      next.left -= 1;
      return next.fault;
    },
    restore: () => void planned.splice(0),
  };
}

function isOn(line: string, on: string | RegExp | undefined): boolean {
  if (on === undefined) return true;
  return typeof on === 'string' ? line.includes(on) : on.test(line);
}

/** The rejection to send instead of the answer; undefined for other kinds of fault. */
export function refusalOf(fault: CodehostFault): Refusal | undefined {
  switch (fault.kind) {
    case 'unauthorised':
      return new Refusal(401, 'Bad credentials');
    case 'no-admin':
      return notAdmin();
    case 'not-found':
      return notFound();
    case 'rate-limited':
      return new Refusal(403, 'You have exceeded a secondary rate limit. Please wait before you try again.', {
        ...(fault.retryAfter !== undefined && { headers: { 'Retry-After': String(fault.retryAfter) } }),
      });
    case 'server-error':
      return new Refusal(fault.status, 'Server Error');
    case 'slow':
    case 'body':
    case 'cut':
      return undefined;
  }
}

export async function delay(fault: CodehostFault | undefined): Promise<void> {
  if (fault?.kind === 'slow') await sleep(fault.ms, undefined, { ref: false });
}

/** Sends the answer, as changed by the fault. */
export function send(
  response: ServerResponse,
  { status, headers }: Answer,
  text: string,
  fault: CodehostFault | undefined,
): void {
  if (fault?.kind === 'cut' && fault.when === 'before') {
    response.destroy();
    return;
  }
  const body = fault?.kind === 'body' ? fault.text : text;
  const isEmpty = status === 204 || status === 304;
  const isText = !/^\s*[[{]/.test(body);
  response.writeHead(fault?.kind === 'body' ? 200 : status, {
    'Content-Type': isText ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    ...headers,
    ...(!isEmpty && { 'Content-Length': String(Buffer.byteLength(body)) }),
  });
  if (fault?.kind === 'cut') response.write(body.slice(0, body.length / 2), () => response.destroy());
  else response.end(isEmpty ? undefined : body);
}
