// For routes whose answer takes a while and costs something: the work is told when the client goes away, and a
// failure that says when to come again says so in its header.
import type { FastifyReply } from 'fastify';
import { SummaryFailure } from '../summarize/summary-failure.ts';

export async function whileClientWaits<Answer>(
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | FastifyReply> {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  try {
    return await work(left.signal);
  } catch (error) {
    // Nobody is there to be answered.
    if (left.signal.aborted) return reply.hijack();
    if (error instanceof SummaryFailure && error.retryAfterSec !== undefined)
      reply.header('Retry-After', String(error.retryAfterSec));
    throw error;
  }
}
