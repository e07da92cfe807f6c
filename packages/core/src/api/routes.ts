// Every route of the daemon, by operation id.
import { accessRoutes } from './access.ts';
import { agentRoutes } from './agents.ts';
import { archiveRoutes } from './archive.ts';
import { attentionRoutes } from './attention.ts';
import { boardRoutes } from './board.ts';
import { configurationRoutes } from './configuration.ts';
import { descriptionRoutes } from './description.ts';
import { doctorRoutes } from './doctor.ts';
import { eventRoutes } from './events.ts';
import { feedRoutes } from './feeds.ts';
import { figuresRoutes } from './figures.ts';
import { healthRoutes } from './health.ts';
import { otelRoutes } from './otel.ts';
import { outboxRoutes } from './outbox.ts';
import { retentionRoutes } from './retention.ts';
import { rulesRoutes } from './rules.ts';
import { runRoutes } from './runs.ts';
import { summaryRoutes } from './summaries.ts';
import { teamRoutes } from './team.ts';
import { ticketRoutes } from './tickets.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerRoutes } from './workers.ts';

export const api = {
  ...healthRoutes,
  ...boardRoutes,
  ...eventRoutes,
  ...attentionRoutes,
  ...teamRoutes,
  ...workerRoutes,
  ...agentRoutes,
  ...runRoutes,
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
