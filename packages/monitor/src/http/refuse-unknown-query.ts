// A field of a query that the route's description does not have is refused, on every route of the API alike: a wish that
// is not heard would answer a question that nobody asked.
import { type ApiFields, api } from '@svc/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseUnknown } from './request-fields.ts';

const described = new Map<string, ApiFields | undefined>(
  Object.values(api).map((route) => [
    `${route.method} ${route.path}`,
    'query' in route ? route.query : undefined,
  ]),
);

export function refuseUnknownQuery(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const name = nameOf(request);
    // Metrics are asked for by programs of others, which may have wishes for others.
    if (name.includes(' /api/') && described.has(name))
      refuseUnknown(request.query, Object.keys(described.get(name)?.shape ?? {}));
  });
}

/** As the description writes it: `GET /api/runs/{run}`. */
function nameOf({ method, routeOptions }: FastifyRequest): string {
  const path = (routeOptions.url ?? '').replaceAll(/:(\w+)/g, '{$1}');
  return `${method === 'HEAD' ? 'GET' : method} ${path}`;
}
