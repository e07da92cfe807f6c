// The timeline of a ticket, in the daemon.
import type { OpenFeature } from '../../kernel/feature.ts';
import { traceRoutes } from './routes.ts';

export const openTrace: OpenFeature = ({ state, log, now }) => ({
  routes: traceRoutes({ state, log, now: () => now().getTime() }),
});
