// The OpenAPI 3.1 document of the daemon's routes, made from their table.
import { z } from 'zod';
import type { ApiFields, ApiRoute } from './api-route.ts';
import { ApiFailure, apiFailureStatus } from './failures.ts';

type JsonSchema = Record<string, unknown>;
type Schemas = Record<string, JsonSchema>;

export type OpenapiDocument = {
  openapi: '3.1.1';
  info: { title: string; version: string; summary: string; license: { name: string; identifier: string } };
  servers: { url: string; description: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, OpenapiOperation>>;
  components: { schemas: Schemas; responses: Record<string, object> };
};

export type OpenapiOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  /** Verbs of the command line that call it. */
  'x-cli'?: readonly string[];
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, object>;
};

const JSON_TYPE = 'application/json';

/** `openapiDocument({ version: '1.2.3', api })` */
export function openapiDocument({
  version,
  api,
}: {
  version: string;
  /** By operation id. */
  api: Readonly<Record<string, ApiRoute>>;
}): OpenapiDocument {
  const schemas: Schemas = {};
  const paths: OpenapiDocument['paths'] = {};
  for (const [operationId, route] of Object.entries(api)) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, {
      [route.method.toLowerCase()]: operationOf(operationId, route, schemas),
    });
  }
  const failure = jsonSchema(ApiFailure, 'output', schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'svc',
      version,
      summary: 'The state of every coding agent, pull request, deploy and ticket',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:7400', description: 'The daemon on this machine' }],
    tags: [...new Set(Object.values(api).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses: {
        Failure: {
          description:
            'Any other failure: 401 when the token is missing or wrong, 403 for a foreign Host, Origin or site or for another user of the machine, 404 for an unknown route, 413 for a body that is too large, 500 for an internal error.',
          content: { [JSON_TYPE]: { schema: failure } },
        },
      },
    },
  };
}

function operationOf(operationId: string, route: ApiRoute, schemas: Schemas): OpenapiOperation {
  const { tag, summary, description, verbs, body, bodyTypes = [JSON_TYPE] } = route;
  const parameters = [
    ...parametersOf('path', route.params, schemas),
    ...parametersOf('query', route.query, schemas),
    ...parametersOf('header', route.headers, schemas),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(verbs !== undefined && { 'x-cli': verbs }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: contentOf(bodyTypes, jsonSchema(body, 'input', schemas)),
      },
    }),
    responses: responsesOf(route, schemas),
  };
}

function parametersOf(
  location: 'path' | 'query' | 'header',
  fields: ApiFields | undefined,
  schemas: Schemas,
): object[] {
  if (fields === undefined) return [];
  const whole = jsonSchema(fields, 'input', schemas);
  const required = new Set(Array.isArray(whole['required']) ? whole['required'] : []);
  return Object.entries((whole['properties'] ?? {}) as Schemas).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: required.has(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function responsesOf(route: ApiRoute, schemas: Schemas): Record<string, object> {
  const { answer, answerType = JSON_TYPE, failures, otherFailures = {} } = route;
  const byStatus = Map.groupBy(failures, (code) => apiFailureStatus[code]);
  const usual = jsonSchema(ApiFailure, 'output', schemas);
  const refused = [...byStatus]
    .toSorted(([one], [other]) => one - other)
    .map(([status, codes]): [string, object] => {
      const special = otherFailures[status];
      const schema =
        special === undefined ? usual : { anyOf: [usual, jsonSchema(special, 'output', schemas)] };
      return [
        String(status),
        {
          description: codes.join(', '),
          ...((status === 429 || codes.includes('no-secret')) && { headers: retryAfter }),
          content: contentOf([JSON_TYPE], schema),
          'x-codes': codes,
        },
      ];
    });
  const answered = {
    description: 'The answer',
    content: contentOf([answerType], jsonSchema(answer, 'output', schemas)),
  };
  return {
    200: answered,
    ...Object.fromEntries(refused),
    default: { $ref: '#/components/responses/Failure' },
  };
}

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before retrying', schema: { type: 'integer' } },
};

function contentOf(types: readonly string[], schema: JsonSchema): Record<string, { schema: JsonSchema }> {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** A schema with a name goes to the components and is referenced. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Schemas): JsonSchema {
  const whole: unknown = z.toJSONSchema(z.object({ it: schema }), {
    io,
    override({ jsonSchema: made }) {
      delete made.id;
      delete made.readOnly;
      delete made.propertyNames;
      // The format says the same.
      if (made.format !== undefined) delete made.pattern;
      // Limits that every number has.
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
    },
  });
  const { properties, $defs = {} } = JSON.parse(
    JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as { properties: { it: JsonSchema }; $defs?: Schemas };
  Object.assign(schemas, $defs);
  return properties.it;
}
