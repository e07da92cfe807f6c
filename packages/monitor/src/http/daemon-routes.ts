// The daemon itself: its health and figures, its feeds, its outbox, its rules, its configuration, the archive, who may
// open the dashboard, and the description of all routes. Each is one call of the part that knows the answer.

import { type ApiAnswer, api, type ConfigReport, openapiDocument, type ProjectEntry } from '@svc/core';
import type { Access } from '../access/access.ts';
import { type ArchiveIndex, listRuns } from '../archive/archive-index.ts';

import { archivedManifest } from '../archive/restore.ts';
import { Failure } from '../errors.ts';
import type { RuleTestRequest } from '../rules/rules.ts';
import type { Metrics } from '../telemetry/metrics.ts';
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
  /** The code host's list of what it sent, held against the log, and repaired where that is asked for. */
  compare: (asked: {
    withinMs: number;
    repair: boolean;
  }) => Promise<ApiAnswer<typeof api.checkFeeds>['repos']>;
  ping: (timeoutMs: number) => Promise<ApiAnswer<typeof api.pingFeeds>['feeds']>;
}): Routes {
  return (app) => {
    route(app, api.getFeeds, options.report);
    route(app, api.checkFeeds, async ({ body: { since: withinMs, repair } }) => ({
      repos: await options.compare({ withinMs, repair }),
    }));
    route(app, api.pingFeeds, async ({ body }) => ({ feeds: await options.ping(body.timeout) }));
  };
}

export function doctorRoutes(options: {
  check: (by: string | undefined) => Promise<ApiAnswer<typeof api.checkDaemon>>;
  runDoctor: () => Promise<ApiAnswer<typeof api.runDoctor>>;
}): Routes {
  return (app) => {
    route(app, api.checkDaemon, ({ body }) => options.check(body.by));
    route(app, api.runDoctor, options.runDoctor);
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
      throw new Failure('unknown-effect', `Nothing with the key ${key} was given up.`, 'See: svc outbox');
    });
  };
}

export function rulesRoutes(options: {
  list: () => ApiAnswer<typeof api.listRules>;
  /** When rules would have fired on the log, also those that are off, and one that is in no configuration yet. */
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
  /** Of a project that is served; undefined is the one that the daemon was started in. */
  report: (folder: string | undefined, projects: ProjectEntry[]) => ConfigReport;
};

export function configRoutes(options: ConfigurationReports): Routes {
  function reportOf({ project }: Asked<typeof api.getConfig>['query']): ConfigReport {
    const projects = options.projects();
    if (project === undefined) return options.report(undefined, projects);
    // Only a project that is served: a path of a request is never looked at on the disk.
    const found = projects.find(({ id }) => id === project);
    if (found !== undefined) return options.report(found.folder, projects);
    throw new Failure(
      'unknown-project',
      `The daemon serves no project ${JSON.stringify(project.slice(0, 200))}.`,
      'See which: GET /api/projects, or svc config show --project <folder>',
    );
  }
  return (app) => {
    route(app, api.listProjects, () => ({ projects: options.projects() }));
    route(app, api.getConfig, ({ query }) => reportOf(query));
  };
}

/** Opens the archive for as long as the work takes. */
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

/** A code opens the dashboard once; a page trades it for its key. */
export function accessRoutes(access: Pick<Access, 'createCode' | 'exchangeCode'>): Routes {
  return (app) => {
    route(app, api.createCode, () => access.createCode());
    route(app, api.exchangeCode, ({ body: { code } }) => {
      const key = access.exchangeCode(code);
      if (key !== undefined) return { key };
      throw new Failure(
        'unknown-code',
        'The code was used or is too old.',
        'Open the dashboard again: svc open',
      );
    });
  };
}
