// Texts that a model writes. POST /api/summarize checks in this order: AI off 503, a request that cannot be parsed 400,
// a provider without a key 503, an unknown run 404, a cached summary 200, too many at once 429, and only then the
// provider: 200, 502 or 504. The briefing: GET returns the last one without calling a model, POST writes a new one; if
// it is disabled, both report that and do nothing.
import type { FastifyReply } from 'fastify';
import { Failure } from '../../kernel/failure.ts';
import { type Routes, route, whileClientWaits } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { Briefing, Summarizer } from './io/create-summaries.ts';

const NOT_CONFIGURED = { error: 'AI not configured' };

export function summaryRoutes(parts: () => { summarizer: Summarizer; briefing: Briefing }): Routes {
  return (app) => {
    // The content type does not matter; the body has to be JSON.
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
