// The effects that are under way, in the daemon.
import type { OpenFeature } from '../../kernel/feature.ts';
import { outboxRoutes } from './routes.ts';

export const openOutbox: OpenFeature = ({ outbox }) => ({ routes: outboxRoutes(outbox) });
