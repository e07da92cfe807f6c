// What svc would remove by age, and its removal.

import { api } from '@svc/core';
import { type Routes, route } from '../../http/route.ts';
import type { Retention } from './retention-service.ts';

export function retentionRoutes({ report, apply }: Pick<Retention, 'report' | 'apply'>): Routes {
  return (app) => {
    route(app, api.getRetention, report);
    route(app, api.applyRetention, ({ body }) => apply(body.by));
  };
}
