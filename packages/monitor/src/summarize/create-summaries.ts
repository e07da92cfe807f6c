// Everything that calls models, built from the configuration: what the routes need, and what the daemon starts and
// stops. Keys are read once, here.
import { setTimeout as sleepFor } from 'node:timers/promises';
import { type Board, type Config, createConsent, type Environment, type ProviderName } from '@svc/core';
import type { Logger } from 'pino';
import { type Briefing, createBriefing } from './briefing.ts';
import { createCallModel } from './call-model.ts';
import type { ModelFigures } from './figures.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { readBriefingSettings, readSummarySettings } from './settings.ts';
import { createSummarizer, type Summarizer } from './summarizer.ts';

export type Summaries = {
  summarizer: Summarizer;
  briefing: Briefing;
  start: () => void;
  /** Aborts running calls: stopping the daemon does not wait for a model. */
  stop: () => void;
};

export function createSummaries(options: {
  configs: readonly Config[];
  environment: Environment;
  /** Fails while the log is still being read. */
  board: () => Board;
  fetch: typeof globalThis.fetch;
  now: () => number;
  logger: Logger;
  figures: ModelFigures;
  /** Of one call including its retry. */
  timeoutMs?: number;
}): Summaries {
  const { configs, environment, board, fetch, now, logger, figures, timeoutMs } = options;
  const isAllowed = createConsent(configs);
  const callModel = createCallModel({ fetch, now, logger, figures, ...(timeoutMs && { timeoutMs }) });
  const newLimiter = (): Limiter =>
    createLimiter({
      now,
      async sleep(milliseconds, signal) {
        await sleepFor(milliseconds, undefined, { signal });
      },
    });
  const limiters: Readonly<Record<ProviderName, Limiter>> = {
    'provider-a': newLimiter(),
    'provider-b': newLimiter(),
    'provider-c': newLimiter(),
  };
  const summarizer = createSummarizer({
    settings: readSummarySettings(configs, environment),
    board,
    isAllowed,
    limiterOf: (provider) => limiters[provider],
    callModel,
    now,
  });
  const briefing = createBriefing({
    settings: readBriefingSettings(configs),
    board,
    isAllowed,
    limiter: newLimiter(),
    callModel,
    now,
    logger,
  });
  return {
    summarizer,
    briefing,
    start: briefing.start,
    stop() {
      summarizer.close();
      briefing.stop();
    },
  };
}
