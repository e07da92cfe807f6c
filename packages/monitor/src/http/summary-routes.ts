// Texts that a model writes. POST /api/summarize answers in this order: AI off 503, a request that cannot be read 400, a
// provider without a key 503, an unknown run 404, a kept summary 200, too many at once 429, and only then the provider:
// 200, 502 or 504. The briefing: GET returns the last one and calls nobody, POST writes a fresh one; where it is
// disabled, both say so and do nothing.
import { api } from '@svc/core';
import type { FastifyReply } from 'fastify';
import { Failure } from '../errors.ts';
import type { Briefing } from '../summarize/briefing.ts';
import type { Summarizer } from '../summarize/summarizer.ts';
import { type Routes, route, whileClientWaits } from './route.ts';

const NOT_CONFIGURED = { error: 'AI not configured' };

export function summaryRoutes(parts: () => { summarizer: Summarizer; briefing: Briefing }): Routes {
  return (app) => {
    // Whatever the body calls itself: what counts is whether it is JSON.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: unknown, body: string) =>
      jsonIn(body),
    );
    route(
      app,
      api.summarizeRun,
      ({ body }, reply) =>
        whileClientWaits(reply, async (signal) => {
          const summary = await parts().summarizer.summarize(body, signal);
          return summary === 'ai-off' ? refuse(reply) : summary;
        }),
      {
        // Before the body is read.
        onRequest: async (_request, reply) => {
          if (!parts().summarizer.isOn()) await refuse(reply);
        },
      },
    );
    route(app, api.getBriefing, () => parts().briefing.last());
    route(app, api.writeBriefing, (_asked, reply) => whileClientWaits(reply, parts().briefing.fresh));
  };
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply.code(503).send(NOT_CONFIGURED);
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Failure('usage', 'The body must be JSON.');
  }
}
