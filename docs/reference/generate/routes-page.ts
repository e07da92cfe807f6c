// docs/reference/routes.md: every route of the daemon, what it does and how it fails. Its fields and types are in the
// OpenAPI description, from which this page is made.
import { readFileSync } from 'node:fs';
import { code, codes, page, table, words } from './markdown.ts';

type Operation = {
  summary: string;
  tags: string[];
  responses: Record<string, { description: string }>;
  'x-cli'?: string[];
};
export type OpenApi = {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
};

export function routesPage(file: string): string {
  return routesPageOf(JSON.parse(readFileSync(file, 'utf8')) as OpenApi);
}

export function routesPageOf(api: OpenApi): string {
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const sections = api.tags.map(({ name: tag }) => {
    const rows = routes
      .filter(({ operation }) => operation.tags.includes(tag))
      .map(({ name, operation }) => [
        code(name),
        words(operation.summary),
        codes(operation['x-cli'] ?? []),
        errorWords(operation),
      ]);
    return `## ${tag.charAt(0).toUpperCase()}${tag.slice(1)}\n\n${table(['Route', 'What it does', 'Verb', 'Errors'], rows)}`;
  });
  return page('Routes', intro, sections);
}

const intro = [
  'Every route of the daemon. The parameters, bodies and answers, field by field, are in [`schemas/openapi.json`](../../schemas/openapi.json), which the daemon serves as `GET /openapi.json`: any reader of OpenAPI 3.1 shows them. The daemon listens on `127.0.0.1:7400` and `[::1]:7400`, and answers JSON. It answers your user and root; where the system cannot identify the user (macOS), send the token: `curl -H "Authorization: Bearer $(cat ~/svc/api-token)" http://127.0.0.1:7400/api/board`. More about following the board, filters, traces and worker output: [building on the API](dashboard.md).',
  'A failure is `{error, code, remedy}`; `remedy` is present if there is one. Every route may answer 403 (a `Host` that is not this machine, or a change requested by a page of another origin), 413 (a body that is too large) and 500 (the daemon failed). The codes: [failures](exit-codes.md#failures).',
];

/** Without the errors that every route may give, which are at the top of the page. */
function errorWords({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, { description }]) => `${status} ${codes(description.split(', '))}`)
    .join('; ');
}
