// docs/reference/routes.md: every route of the daemon and the shapes of its answers, from an OpenAPI 3.1 description.
import { readFileSync } from 'node:fs';
import { createAnchors } from '../../check-links.ts';
import { code, codes, type JsonSchema, page, resolved, table, typeWords, words } from './markdown.ts';

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: JsonSchema };
type Content = Record<string, { schema?: JsonSchema }>;
type Response = { description?: string; content?: Content };
type Operation = {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content?: Content };
  responses?: Record<string, Response>;
  'x-cli'?: string[];
};
export type OpenApi = {
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, JsonSchema> };
};

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

type Route = { method: string; path: string; operation: Operation };

export function routesPage(file: string): string {
  return routesPageOf(JSON.parse(readFileSync(file, 'utf8')) as OpenApi);
}

export function routesPageOf(api: OpenApi): string {
  const routes = routesOf(api);
  const overview = table(
    ['Route', 'What it does'],
    routes.map(({ method, path, operation }) => [
      `[${code(`${method} ${path}`)}](#${anchorOf(`${method} ${path}`)})`,
      words(operation.summary ?? ''),
    ]),
  );
  const byTag = Map.groupBy(routes, ({ operation }) => operation.tags?.[0] ?? 'other');
  const sections = [...byTag].map(([tag, own]) => {
    const about = api.tags?.find(({ name }) => name === tag)?.description;
    return [
      `## ${tag.charAt(0).toUpperCase()}${tag.slice(1)}`,
      ...(about === undefined ? [] : [words(about)]),
      ...own.map((route) => routeSection(route, api)),
    ].join('\n\n');
  });
  const shapes = Object.entries(api.components?.schemas ?? {}).map(([name, schema]) =>
    shape(name, schema, api),
  );
  return page('Routes', [...intro, overview], [...sections, `## Types\n\n${shapes.join('\n\n')}`]);
}

const intro = [
  'Every route of the daemon, from [`schemas/openapi.json`](../../schemas/openapi.json). It listens on `127.0.0.1:7400` and `[::1]:7400`, and answers JSON. It answers your user and root; where the system cannot identify the user (macOS), send the token: `curl -H "Authorization: Bearer $(cat ~/svc/api-token)" http://127.0.0.1:7400/api/board`. More about following the board, filters, traces and worker output: [building on the API](dashboard.md).',
  'A failure is `{error, code, remedy}`; `remedy` is present if there is one. Every route may answer 403 (a `Host` that is not this machine, or a change requested by a page of another origin), 413 (a body that is too large) and 500 (the daemon failed). The codes: [failures](exit-codes.md#failures).',
];

function routesOf(api: OpenApi): Route[] {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    methods.flatMap((method): Route[] => {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) return [];
      const shared = (item['parameters'] as Parameter[] | undefined) ?? [];
      const parameters = [...shared, ...(operation.parameters ?? [])];
      return [{ method: method.toUpperCase(), path, operation: { ...operation, parameters } }];
    }),
  );
}

function routeSection({ method, path, operation }: Route, api: OpenApi): string {
  const { summary, description, parameters = [], requestBody, responses = {} } = operation;
  const body = requestBody && follow(requestBody, api).content;
  const rows = [...parameters.map((one) => parameterRow(follow(one, api), api)), ...bodyRows(body, api)];
  const verbs = operation['x-cli'] ?? [];
  return [
    `### ${method} ${path}`,
    ...new Set([summary, description].filter((text) => text !== undefined).map((text) => `${words(text)}.`)),
    ...(verbs.length === 0 ? [] : [`Verb: ${codes(verbs)}`]),
    ...(rows.length === 0 ? [] : [table(['Field', 'In', 'Type', 'What it is'], rows)]),
    answers(responses, api),
  ]
    .join('\n\n')
    .replaceAll('..\n', '.\n');
}

function parameterRow(
  { name, in: place, required, description, schema = {} }: Parameter,
  api: OpenApi,
): string[] {
  return [
    code(name),
    required === true ? `${place}, needed` : place,
    typeWords(schema, api, linkOf),
    words(description ?? ''),
  ];
}

/** The fields of a body as rows; anything but an object with fields is a single row. */
function bodyRows(content: Content | undefined, api: OpenApi): string[][] {
  const [[type, { schema }] = ['', {}]] = Object.entries(content ?? {}) as [
    string,
    { schema?: JsonSchema },
  ][];
  if (type === '') return [];
  const object = schema && resolved(schema, api);
  const fields = Object.entries(object?.properties ?? {});
  if (fields.length === 0) return [['', `body, ${type}`, contentWords(content, api), '']];
  return fields.map(([name, field]) => [
    code(name),
    object?.required?.includes(name) === true ? 'body, needed' : 'body',
    typeWords(field, api, linkOf),
    words(field.description ?? ''),
  ]);
}

/** Without the answers that every route may give, which are at the top of the page. */
function answers(responses: Record<string, Response>, api: OpenApi): string {
  const own = Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, given]) => ({ status, ...follow(given, api) }));
  const isSuccess = ({ status }: { status: string }) => status.startsWith('2');
  const returned = own.filter(isSuccess).map(({ content }) => contentWords(content, api));
  const errors = own
    .filter((one) => !isSuccess(one))
    .map(({ status, description = '' }) => `${status} ${codes(description.split(', '))}`);
  return `Returns: ${returned.join(' or ')}.${errors.length === 0 ? '' : ` Errors: ${errors.join('; ')}.`}`;
}

function contentWords(content: Content | undefined, api: OpenApi): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => {
      if (type !== 'application/json') return code(type);
      return schema === undefined ? 'JSON' : typeWords(schema, api, linkOf);
    })
    .join(' or ');
}

function shape(name: string, schema: JsonSchema, api: OpenApi): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, of]) => [
    code(field),
    typeWords(of, api, linkOf),
    schema.required?.includes(field) === true ? 'yes' : '',
    words(of.description ?? ''),
  ]);
  const about = schema.description === undefined ? [] : [`${words(schema.description)}.`];
  const what =
    fields.length === 0
      ? typeWords(schema, api, linkOf)
      : table(['Field', 'Type', 'Always', 'What it is'], fields);
  return [`### ${shapeHeading(name)}`, ...about, what].join('\n\n').replaceAll('..\n', '.\n');
}

/** Not only the name: the routes of the board already have a section `Board`. */
function shapeHeading(name: string): string {
  return `Type ${name}`;
}

/** A named shape is a link to its section. */
function linkOf(reference: string): string | undefined {
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(reference) ?? [];
  return name === undefined ? undefined : `[${code(name)}](#${anchorOf(shapeHeading(name))})`;
}

function anchorOf(heading: string): string {
  return createAnchors()(heading);
}

function follow<Thing extends object>(thing: Thing, api: OpenApi): Thing {
  return resolved(thing, api) as Thing;
}
