// Every route of the daemon, by operation id.
import { z } from 'zod';
import { accessRoutes } from './access.ts';
import { agentRoutes } from './agents.ts';
import { archiveRoutes, retentionRoutes } from './archive.ts';
import { attentionRoutes } from './attention.ts';
import { boardRoutes } from './board.ts';
import { configurationRoutes } from './configuration.ts';
import { doctorRoutes } from './doctor.ts';
import { eventRoutes } from './events.ts';
import { feedRoutes } from './feeds.ts';
import { figuresRoutes, healthRoutes } from './health.ts';
import { otelRoutes } from './otel.ts';
import { outboxRoutes } from './outbox.ts';
import { policyRoutes } from './policy.ts';
import { apiRoute } from './route.ts';
import { rulesRoutes } from './rules.ts';
import { runRoutes } from './runs.ts';
import { summaryRoutes } from './summaries.ts';
import { taskRoutes } from './tasks.ts';
import { teamRoutes } from './team.ts';
import { ticketRoutes } from './tickets.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerRoutes } from './workers.ts';

// The route that describes all routes.

const descriptionRoutes = {
  getOpenapi: apiRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'api',
    summary: 'Show this OpenAPI 3.1 document',
    answer: z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
    failures: [],
  }),
};

export const api = {
  ...healthRoutes,
  ...boardRoutes,
  ...eventRoutes,
  ...attentionRoutes,
  ...teamRoutes,
  ...workerRoutes,
  ...policyRoutes,
  ...agentRoutes,
  ...runRoutes,
  ...taskRoutes,
  ...ticketRoutes,
  ...feedRoutes,
  ...rulesRoutes,
  ...outboxRoutes,
  ...doctorRoutes,
  ...summaryRoutes,
  ...otelRoutes,
  ...figuresRoutes,
  ...configurationRoutes,
  ...archiveRoutes,
  ...retentionRoutes,
  ...webhookRoutes,
  ...accessRoutes,
  ...descriptionRoutes,
};
