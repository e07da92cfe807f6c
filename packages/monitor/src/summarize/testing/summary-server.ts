// The routes of summaries and the briefing on a real server, over a board that a test made, with the real SDK
// against a local server that speaks as the vendors do. The key is a canary: no test may find it in a log, an
// error or an answer.
import { type Board, type Config, foldLine, resolveConfig } from '@svc/core';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { briefingRoutes } from '../../http/briefing-routes.ts';
import { createHttpServer } from '../../http/server.ts';
import { summarizeRoutes } from '../../http/summarize-routes.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import { createSummaries } from '../create-summaries.ts';

export const CANARY = 'sk_canary_do_not_tell_0123456789';

type Provider = 'provider-a' | 'provider-b' | 'provider-c' | 'gateway';

export type SummaryServerOptions = {
  /** Where the vendors answer. */
  models: { baseUrl: (vendor: Provider) => string };
  board: Board;
  /** Of svc.ai, over `enabled: true` and three providers with the same key. */
  ai?: Record<string, unknown>;
  briefing?: Record<string, unknown>;
  environment?: Record<string, string>;
  otherProjects?: Config[];
  ready?: boolean;
  timeoutMs?: number;
  /** What GET /api/health answers. */
  identity?: (port: number) => object;
  fetch?: typeof globalThis.fetch;
};

const file = (layer: 'project' | 'secrets', data: object) => ({
  path: `/conf/${layer}.json`,
  layers: [layer],
  reads: [layer],
  data,
  lineOf: () => 1,
});

/** A project's configuration as files would give it. */
export function configOf(svc: object, ai: object = {}): Config {
  const { config, problems } = resolveConfig([file('project', { svc }), file('secrets', ai)], {});
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

export async function startSummaryServer(options: SummaryServerOptions) {
  const { board } = options;
  const logged: string[] = [];
  const answered: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const metrics = createMetrics();
  const clock = { ms: Date.parse('2026-01-02T12:00:00.000Z'), began: Date.now() };
  const now = (): number => clock.ms + (Date.now() - clock.began);
  const ready = options.ready ?? true;
  const summaries = createSummaries({
    configs: [projectWith(options), ...(options.otherProjects ?? [])],
    environment: options.environment ?? { MODEL_KEY: CANARY },
    state: { board: () => board, reached: async () => undefined, progress: () => ({ ready, seq: 1, of: 2 }) },
    fetch: options.fetch ?? globalThis.fetch,
    now,
    logger,
    metrics,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  });
  let port = 0;
  const server = createHttpServer({
    logger,
    direct(request, response) {
      if (request.url !== '/api/health') return false;
      response.end(JSON.stringify(options.identity?.(port) ?? {}));
      return true;
    },
    onAnswer: () => undefined,
    routes: [summarizeRoutes(summaries), briefingRoutes(summaries)],
  });
  onTestFinished(async () => {
    summaries.stop();
    await server.close();
    expect(logged.join('')).not.toContain(CANARY);
    expect(answered.join('\n')).not.toContain(CANARY);
  });
  port = await server.listen(0);

  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    answered.push(text, JSON.stringify(headers));
    return { status: response.status, body: JSON.parse(text), headers };
  };
  const post = (path: string, body: unknown, more: RequestInit = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...more,
    });
  return {
    port,
    logged,
    metrics,
    summaries,
    summarize: (body: unknown = { orchId: 'run-1' }, more?: RequestInit) =>
      post('/api/summarize', body, more),
    briefing: () => send('/api/briefing', {}),
    freshBriefing: () => post('/api/briefing', {}),
    /** Time goes on without anybody waiting. */
    pass: (milliseconds: number) => {
      clock.ms += milliseconds;
    },
    /** Something new in the log. */
    tell: (line: Omit<Parameters<typeof foldLine>[1], 'seq' | 'ts' | 'via' | 'source'>) => {
      const seq = board.seq + 1;
      foldLine(board, { ...line, seq, ts: '2026-01-02T12:01:00.000Z', via: 'local', source: 'monitor' });
    },
  };
}

function projectWith({ ai, briefing, models }: SummaryServerOptions): Config {
  const names = ['provider-a', 'provider-b', 'provider-c'] as const;
  const config = configOf(
    {
      project: { ticketPrefix: 'ENG' },
      ai: {
        enabled: true,
        providers: Object.fromEntries(names.map((name) => [name, { apiKeyEnv: 'MODEL_KEY' }])),
        ...ai,
      },
    },
    { ...(briefing && { ai: { gateway: models.baseUrl('gateway'), apiKey: CANARY, ...briefing } }) },
  );
  for (const name of names) {
    const provider = config.svc.ai.providers[name];
    if (provider !== undefined) provider.baseUrl ??= models.baseUrl(name);
  }
  return config;
}
