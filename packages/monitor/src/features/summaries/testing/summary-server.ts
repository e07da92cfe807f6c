// The routes of summaries and the briefing on a real server, over a board that a test made, with the real SDK against a
// local server that answers like the vendors. The key is a canary: it must not appear in any log, error or answer.
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import type { Board } from '../../../kernel/board/board.ts';
import { boardOf } from '../../../kernel/board/state-access.ts';
import { createHttpServer } from '../../../kernel/http/server.ts';
import { allowEveryone } from '../../../kernel/http/testing/allow-everyone.ts';
import { createMetrics } from '../../../kernel/telemetry/metrics.ts';
import { foldLine } from '../../board.ts';
import type { Config } from '../../config.ts';
import { resolveConfig } from '../../configure.ts';
import { type Briefing, createSummaries, type Summarizer } from '../io/create-summaries.ts';
import { createModelFigures } from '../io/limiter.ts';
import { summaryRoutes } from '../routes.ts';

export const CANARY = 'sk_canary_do_not_tell_0123456789';

type Provider = 'provider-a' | 'provider-b' | 'provider-c' | 'gateway';

export type SummaryServerOptions = {
  /** The addresses of the vendors. */
  models: { baseUrl: (vendor: Provider) => string };
  board: Board;
  /** Settings of svc.ai, merged over `enabled: true` and three providers with the same key. */
  ai?: Record<string, unknown>;
  briefing?: Record<string, unknown>;
  environment?: Record<string, string>;
  otherProjects?: Config[];
  ready?: boolean;
  timeoutMs?: number;
  /** The answer of GET /api/health. */
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
  let time = Date.parse('2026-01-02T12:00:00.000Z');
  const now = (): number => time;
  const ready = options.ready ?? true;
  let asked = 0;
  let left = 0;
  let held = Promise.resolve();
  const callProvider = options.fetch ?? globalThis.fetch;
  const summaries = createSummaries({
    configs: [projectWith(options), ...(options.otherProjects ?? [])],
    environment: options.environment ?? { MODEL_KEY: CANARY },
    board: () =>
      boardOf({
        board: () => board,
        reached: async () => undefined,
        progress: () => ({ ready, seq: 1, logSeq: 2 }),
      }),
    async fetch(...request) {
      const answer = await callProvider(...request);
      await held;
      return answer;
    },
    now,
    logger,
    figures: createModelFigures(metrics.registry),
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  });
  const summarizer: Summarizer = {
    ...summaries.summarizer,
    summarize(...request) {
      asked += 1;
      return summaries.summarizer.summarize(...request);
    },
  };
  const briefing: Briefing = {
    ...summaries.briefing,
    fresh(signal) {
      asked += 1;
      return summaries.briefing.fresh(signal);
    },
  };
  let port = 0;
  const server = createHttpServer({
    logger,
    access: allowEveryone,
    show(request, response) {
      response.once('close', () => {
        if (!response.writableFinished) left += 1;
      });
      if (request.url !== '/api/health') return false;
      response.end(JSON.stringify(options.identity?.(port) ?? {}));
      return true;
    },
    onAnswer: () => undefined,
    routes: [summaryRoutes(() => ({ summarizer, briefing }))],
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
    /** How many requests for a summary or a fresh briefing were received. */
    asked: () => asked,
    /** How many clients disconnected before they were answered. */
    left: () => left,
    /** Providers receive every request from now on, and their answers wait until the function is called. */
    holdAnswers: () => {
      const gate = Promise.withResolvers<void>();
      onTestFinished(() => gate.resolve());
      held = gate.promise;
      return gate.resolve;
    },
    /** The only way to advance time. */
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
    /** Appends to the log. */
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
