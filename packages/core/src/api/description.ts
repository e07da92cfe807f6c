// The description of all routes, which is itself one.
import { z } from 'zod';
import { apiRoute } from './route.ts';

export const descriptionRoutes = {
  getOpenapi: apiRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'api',
    summary: 'This description: OpenAPI 3.1',
    answer: z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
    failures: [],
  }),
};
