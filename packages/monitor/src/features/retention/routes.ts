// What svc would remove by age, and its removal.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { Retention } from './io/retention-service.ts';

export function retentionRoutes({ report, apply }: Pick<Retention, 'report' | 'apply'>): Routes {
  return (app) => {
    route(app, api.getRetention, report);
    route(app, api.applyRetention, ({ body }) => apply(body.by));
  };
}
