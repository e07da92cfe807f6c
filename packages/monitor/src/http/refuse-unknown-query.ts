// A field of a query that the route's description does not have is refused, on every route of the API alike: a wish that
// is not heard would answer a question that nobody asked.
import { api } from '@svc/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseUnknown } from './request-fields.ts';

/** They take the parameters of the backends, from a query or from a form, and refuse what they do not know themselves. */
export const passedOn: ReadonlySet<string> = new Set(['/api/otel/query', '/api/otel/logs']);

/** The names that each route's query may have. */
const described = new Map<string, readonly string[]>(
  Object.values(api)
    .filter(({ path }) => path.startsWith('/api/') && !passedOn.has(path))
    .map((route) => [
      `${route.method} ${route.path}`,
      'query' in route ? Object.keys(route.query.shape) : [],
    ]),
);

export function refuseUnknownQuery(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const known = described.get(nameOf(request));
    if (known !== undefined) refuseUnknown(request.query, known);
  });
}

/** As the description writes it: `GET /api/runs/{run}`. */
function nameOf({ method, routeOptions }: FastifyRequest): string {
  const path = (routeOptions.url ?? '').replaceAll(/:(\w+)/g, '{$1}');
  return `${method === 'HEAD' ? 'GET' : method} ${path}`;
}
