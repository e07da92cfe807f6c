// What the daemon has tried on itself, and all checks of svc doctor.
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';

export function doctorRoutes(options: {
  check: (by: string | undefined) => Promise<ApiAnswer<typeof api.checkDaemon>>;
  runDoctor: (asked: {
    fix: readonly { part: string; what: string }[];
  }) => Promise<ApiAnswer<typeof api.runDoctor>>;
}): Routes {
  return (app) => {
    route(app, api.checkDaemon, ({ body }) => options.check(body.by));
    route(app, api.runDoctor, ({ body }) => options.runDoctor(body));
  };
}
