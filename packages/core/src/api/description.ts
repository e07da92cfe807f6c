// The route that describes all routes.
import { z } from 'zod';
import { apiRoute } from './route.ts';

export const descriptionRoutes = {
  getOpenapi: apiRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'api',
    summary: 'Show this OpenAPI 3.1 document',
    answer: z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
    failures: [],
  }),
};
