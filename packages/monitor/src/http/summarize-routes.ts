// POST /api/summarize: a run in words, written by a model. The order of the answers: AI off 503, a request that
// cannot be read 400, a provider without a key 503, an unknown run 404, a kept summary 200, too many at once
// 429, and only then the provider: 200, 502 or 504.
import { readSummaryRequest } from '@svc/core';
import type { FastifyPluginCallback, FastifyReply } from 'fastify';
import { Failure } from '../errors.ts';
import type { Summarizer } from '../summarize/summarizer.ts';
import { whileClientWaits } from './client-waits.ts';

const NOT_CONFIGURED = { error: 'AI not configured' };

export function summarizeRoutes(summarizer: () => Summarizer): FastifyPluginCallback {
  return (app, _options, done) => {
    // Whatever the body calls itself: what counts is whether it is JSON.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    app.post(
      '/api/summarize',
      {
        // Before the body is read.
        onRequest: async (_request, reply) => {
          if (!summarizer().isOn()) await refuse(reply);
        },
      },
      async (request, reply) => {
        const read = readSummaryRequest(jsonIn(request.body));
        if (!read.ok) throw new Failure('usage', read.problem);
        return whileClientWaits(reply, async (signal) => {
          const summary = await summarizer().summarize(read.request, signal);
          return summary === 'ai-off' ? refuse(reply) : summary;
        });
      },
    );
    done();
  };
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply.code(503).send(NOT_CONFIGURED);
}

function jsonIn(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined;
  } catch {
    throw new Failure('usage', 'The body must be JSON.');
  }
}
