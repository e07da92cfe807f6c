// The webhook receivers on node:http: read the raw body within limits, pass it on, respond. No framework code runs
// between a burst of deliveries and the log.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalPath } from '@svc/contract/vendor-names';
import { type BodyProblem, type ByteBudget, createByteBudget, readBody } from '@svc/lib/read-body';
import type { Logger } from 'pino';
import { answerJson, type DirectHandler, type OnAnswer } from '../../../kernel/http/server.ts';
import { type Answer, cutOff, failedToAnswer, type Receiver, tooBusy, tooLarge } from './receiver.ts';

const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** Bodies in memory at once; beyond this a sender gets 503 and retries. */
const MAX_BYTES_UNDER_WAY = 100 * 1024 * 1024;

const refusals = {
  'too-large': () => tooLarge(MAX_BODY_BYTES),
  busy: tooBusy,
  'cut-off': cutOff,
} as const;

export function createWebhookHandler(options: {
  receivers: readonly Receiver[];
  logger: Logger;
  onAnswer: OnAnswer;
}): DirectHandler {
  const { logger, onAnswer } = options;
  const byPath = new Map<string, Receiver>(
    options.receivers.map((receiver) => [receiver.feed.path, receiver]),
  );
  const budget = createByteBudget(MAX_BYTES_UNDER_WAY);

  return (request, response) => {
    const receiver = request.method === 'POST' ? byPath.get(canonicalPath(pathOf(request))) : undefined;
    if (receiver === undefined) return false;
    const started = performance.now();
    const answer = (given: Answer): void => {
      send(request, response, given);
      onAnswer(receiver.feed.path, 'POST', given.status, performance.now() - started);
    };
    take(receiver, request, budget).then(answer, (error: unknown) => {
      logger.error({ err: error }, 'a delivery failed');
      answer(failedToAnswer());
    });
    return true;
  };
}

async function take(receiver: Receiver, request: IncomingMessage, budget: ByteBudget): Promise<Answer> {
  const refused = receiver.refuseEarly(request.headers);
  if (refused) return refused;
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
    return receiver.refuse(tooLarge(MAX_BODY_BYTES));
  return handOn(receiver, request, budget, await readBody(request, MAX_BODY_BYTES, budget));
}

/** Not async: the body's bytes must not stay in memory until the disk has answered. */
function handOn(
  receiver: Receiver,
  request: IncomingMessage,
  budget: ByteBudget,
  body: Buffer | BodyProblem,
): Promise<Answer> | Answer {
  if (typeof body === 'string') return receiver.refuse(refusals[body]());
  try {
    return receiver.receive({ headers: request.headers, body });
  } finally {
    budget.give(body.length);
  }
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const more: string[] = [];
  if (answer.status === 503) more.push('Retry-After', '5');
  // The unread rest of the body must not be parsed as the next request.
  if (!request.complete) more.push('Connection', 'close');
  answerJson(response, answer.status, answer.body, more);
}
