// Why a ticket is in its state, in the daemon.
import type { OpenFeature } from '../../kernel/feature.ts';
import { whyRoutes } from './routes.ts';

export const openWhy: OpenFeature = ({ state, now }) => ({
  routes: whyRoutes({ state, now: () => now().getTime() }),
});
