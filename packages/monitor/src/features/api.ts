// Every route of the daemon, by operation id.
import { z } from 'zod';
import { accessRoutes } from '../kernel/access/api.ts';
import { apiRoute } from '../kernel/http/api-route.ts';
import { agentRoutes } from './agents/api.ts';
import { archiveRoutes } from './archive/api.ts';
import { attentionRoutes } from './attention/api.ts';
import { boardRoutes } from './board/api.ts';
import { webhookRoutes } from './codehost/api.ts';
import { configurationRoutes } from './configuration/api.ts';
import { policyRoutes } from './deploy/policy-api.ts';
import { doctorRoutes } from './doctor/api.ts';
import { eventRoutes } from './events/api.ts';
import { feedRoutes } from './feeds/api.ts';
import { figuresRoutes, healthRoutes } from './health/api.ts';
import { otelRoutes } from './otel/api.ts';
import { outboxRoutes } from './outbox/api.ts';
import { retentionRoutes } from './retention/api.ts';
import { rulesRoutes } from './rules/api.ts';
import { runRoutes } from './runs/api.ts';
import { sessionRoutes } from './sessions/api.ts';
import { summaryRoutes } from './summaries/api.ts';
import { taskRoutes } from './tasks/api.ts';
import { teamRoutes } from './team/api.ts';
import { traceRoutes } from './trace/api.ts';
import { ticketRoutes } from './tracker/api.ts';
import { workerRoutes } from './workers/api.ts';

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
  ...traceRoutes,
  ...policyRoutes,
  ...agentRoutes,
  ...sessionRoutes,
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
