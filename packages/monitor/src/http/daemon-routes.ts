// The daemon itself: health and figures, feeds, outbox, rules, configuration, archive, access to the dashboard, and the
// description of all routes.
import {
  type ApiAnswer,
  api,
  type BackendName,
  type ConfigReport,
  openapiDocument,
  type ProjectEntry,
  type ProxyReading,
  readLogsRequest,
  readMetricsRequest,
} from '@svc/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';
import { type ArchiveIndex, listRuns } from '../archive/archive-index.ts';
import { archivedManifest } from '../archive/restore.ts';
import { Failure } from '../errors.ts';
import type { Retention } from '../retention/retention.ts';
import type { RuleTestRequest } from '../rules/rules.ts';
import type { Backend } from '../telemetry/backends.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { BackendProxy } from '../telemetry/proxy.ts';
import { type Asked, momentIn, type Routes, route, whileClientWaits } from './route.ts';

export function healthRoutes(options: {
  health: () => ApiAnswer<typeof api.getHealth>;
  figures: () => ApiAnswer<typeof api.getFigures>;
  metrics: Metrics;
  version: string;
}): Routes {
  let description: ApiAnswer<typeof api.getOpenapi> | undefined;
  return (app) => {
    route(app, api.getHealth, options.health);
    route(app, api.getFigures, options.figures);
    route(app, api.getMetrics, (_asked, reply) => {
      const { registry } = options.metrics;
      reply.type(registry.contentType);
      return registry.metrics();
    });
    route(app, api.getOpenapi, () => (description ??= openapiDocument({ version: options.version })));
  };
}

export function feedRoutes(options: {
  report: () => ApiAnswer<typeof api.getFeeds>;
  check: (asked: { withinMs: number; repair: boolean }) => Promise<ApiAnswer<typeof api.checkFeeds>>;
  ping: (timeoutMs: number) => Promise<ApiAnswer<typeof api.pingFeeds>['feeds']>;
}): Routes {
  return (app) => {
    route(app, api.getFeeds, options.report);
    route(app, api.checkFeeds, ({ body: { since: withinMs, repair } }) =>
      options.check({ withinMs, repair }),
    );
    route(app, api.pingFeeds, async ({ body }) => ({ feeds: await options.ping(body.timeout) }));
  };
}

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

export function outboxRoutes(options: {
  list: () => ApiAnswer<typeof api.getOutbox>['effects'];
  figures: () => ApiAnswer<typeof api.getOutbox>['figures'];
  /** False when there is no such effect, or it was not given up. */
  tryAgain: (key: string) => boolean;
}): Routes {
  return (app) => {
    route(app, api.getOutbox, () => ({ figures: options.figures(), effects: options.list() }));
    route(app, api.retryEffect, ({ body: { key } }) => {
      if (options.tryAgain(key)) return { ok: true as const };
      throw new Failure('unknown-effect', `No given-up effect has the key ${key}.`, 'List them: svc outbox');
    });
  };
}

export function rulesRoutes(options: {
  list: () => ApiAnswer<typeof api.listRules>;
  /** When rules would have fired on the log; also disabled rules, and one that is not configured yet. */
  test: (request: RuleTestRequest, signal: AbortSignal) => Promise<ApiAnswer<typeof api.testRules>>;
  now: () => number;
}): Routes {
  return (app) => {
    route(app, api.listRules, options.list);
    route(app, api.testRules, ({ body: { name, rule, since } }, reply) => {
      const asked = { name, rule, since: momentIn('since', since, options.now()) };
      return whileClientWaits(reply, (signal) => options.test(asked, signal));
    });
  };
}

type ConfigurationReports = {
  projects: () => ProjectEntry[];
  /** The report of a served project; undefined is the project that the daemon was started in. */
  report: (folder: string | undefined, projects: ProjectEntry[]) => ConfigReport;
};

export function configRoutes(options: ConfigurationReports): Routes {
  function reportOf({ project }: Asked<typeof api.getConfig>['query']): ConfigReport {
    const projects = options.projects();
    if (project === undefined) return options.report(undefined, projects);
    // Only served projects: a path from a request is never looked up on the disk.
    const found = projects.find(({ id }) => id === project);
    if (found !== undefined) return options.report(found.folder, projects);
    throw new Failure(
      'unknown-project',
      `The daemon serves no project ${JSON.stringify(project.slice(0, 200))}.`,
      'List the projects: GET /api/projects. For a folder: svc config show --project <folder>',
    );
  }
  return (app) => {
    route(app, api.listProjects, () => ({ projects: options.projects() }));
    route(app, api.getConfig, ({ query }) => reportOf(query));
  };
}

/** Opens the archive for the duration of the work. */
type WithArchive = <T>(work: (archive: { root: string; index: ArchiveIndex }) => Promise<T>) => Promise<T>;

export function archiveRoutes(withArchive: WithArchive): Routes {
  return (app) => {
    route(app, api.listArchivedRuns, ({ query: { after, state, limit } }) =>
      withArchive((archive) => listRuns({ ...archive, after, state, limit })),
    );
    route(app, api.getArchivedRun, ({ params: { run } }) =>
      withArchive(({ root }) => archivedManifest(root, run)),
    );
  };
}

export function retentionRoutes({ report, apply }: Pick<Retention, 'report' | 'apply'>): Routes {
  return (app) => {
    route(app, api.getRetention, report);
    route(app, api.applyRetention, ({ body }) => apply(body.by));
  };
}

/** A code opens the dashboard once; the page exchanges it for its key. */
export function accessRoutes(access: Pick<Access, 'createCode' | 'exchangeCode'>): Routes {
  return (app) => {
    route(app, api.createCode, () => access.createCode());
    route(app, api.exchangeCode, ({ body: { code } }) => {
      const key = access.exchangeCode(code);
      if (key !== undefined) return { key };
      throw new Failure(
        'unknown-code',
        'The code has expired or was used already.',
        'Open the dashboard again: svc open',
      );
    });
  };
}

// GET|POST /api/otel/query and /api/otel/logs: forward a query to the metrics or log backend and return its response.
// GET /api/otel/status: whether the backends are available.

/** A query and a few short values, with every byte percent-encoded as three. */
const MAX_FORM = 64 * 1024;

export function otelRoutes(options: {
  backend: (name: BackendName) => Backend;
  status: () => ApiAnswer<typeof api.getTelemetry>;
}): Routes {
  const answerWith = (name: BackendName, read: (given: Record<string, unknown>) => ProxyReading) => ({
    method: ['GET', 'POST'],
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const proxy = proxyOf(options.backend(name), name);
      const reading = read(givenIn(request));
      if (!reading.ok) throw new Failure('usage', reading.problem);
      const { status, body } = await proxy.ask(reading.request);
      return reply.code(status).type('application/json; charset=utf-8').send(body);
    },
  });
  return (app) => {
    // Prometheus clients send this type; only these routes accept it.
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM },
      (_request, body, parsed) => parsed(null, formFields(String(body))),
    );
    app.route({ url: '/api/otel/query', ...answerWith('metrics', readMetricsRequest) });
    app.route({ url: '/api/otel/logs', ...answerWith('logs', readLogsRequest) });
    route(app, api.getTelemetry, options.status);
  };
}

function proxyOf({ choice, proxy }: Backend, name: BackendName): BackendProxy {
  if (proxy !== undefined) return proxy;
  const { why, remedy } = choice.use ? { why: 'it has stopped', remedy: undefined } : choice;
  throw new Failure('not-configured', `The ${name} backend is not available: ${why}.`, remedy);
}

/** Fields of the address and the body together, as the backends read them; a field must not be in both. */
function givenIn({ query, body }: FastifyRequest): Record<string, unknown> {
  if (typeof query !== 'object' || query === null) return {};
  if (body === undefined || body === null) return { ...query };
  if (typeof body !== 'object' || Array.isArray(body))
    throw new Failure('usage', 'The body must be a JSON object or a form.');
  const twice = Object.keys(body).find((name) => Object.hasOwn(query, name));
  if (twice !== undefined)
    throw new Failure('usage', `${JSON.stringify(twice.slice(0, 60))} is given more than once.`);
  return { ...query, ...body };
}

function formFields(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null);
  const form = new URLSearchParams(text);
  for (const name of form.keys()) {
    const values = form.getAll(name);
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}
