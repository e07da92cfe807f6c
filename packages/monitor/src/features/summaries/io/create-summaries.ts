// Everything that calls models, built from the configuration: what the routes need, and what the daemon starts and
// stops. Keys are read once, here.
import { createHash } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { createCache } from '@svc/lib/cache';
import type { Logger } from 'pino';
import type { Board } from '../../../kernel/board/board.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { ApiAnswer } from '../../../kernel/http/api-route.ts';
import type { api } from '../../api.ts';
import type { Config } from '../../config.ts';
import type { Worker } from '../../workers/worker.ts';
import type { SummaryRequest } from '../api.ts';
import { briefingRequest, readBriefing } from '../briefing-prompt.ts';
import { chooseModel, type ProviderName } from '../providers.ts';
import {
  type Access,
  type BriefingSettings,
  readBriefingSettings,
  readSummarySettings,
  type SummarySettings,
} from '../settings.ts';
import { createConsent, knowsRun, type Prompt, summaryPrompt, workersOfRun } from '../summary-prompt.ts';
import { type CallModel, createCallModel } from './call-model.ts';
import { createLimiter, type Limiter, type ModelFigures } from './limiter.ts';
import { failureFor, ModelFailure, tooManyRequests } from './model-failure.ts';

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
  /** For one call including its retry. */
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

// Summaries of a run: cached for five minutes, one call for concurrent requests, and no more calls than the provider's
// limiter allows.

const SUMMARY_LIFETIME_MS = 5 * 60_000;
const MOST_SUMMARIES = 200;

/** The answer of POST /api/summarize. `cost` and `tokens` are those of the call that wrote it. */
type Summary = ApiAnswer<typeof api.summarizeRun>;

/** `ai-off`: no provider is enabled, or the project of the run has AI off. */
type Summarized = Summary | 'ai-off';

export type Summarizer = {
  isOn: () => boolean;
  /** Fails with a Failure. Aborting `signal` does not end the call if others wait for it. */
  summarize: (request: SummaryRequest, signal: AbortSignal) => Promise<Summarized>;
  close: () => void;
};

function createSummarizer(options: {
  settings: SummarySettings;
  /** Fails while the log is still being read. */
  board: () => Board;
  isAllowed: (worker: Worker) => boolean;
  limiterOf: (provider: ProviderName) => Limiter;
  callModel: CallModel;
  now: () => number;
}): Summarizer {
  const { settings, board, isAllowed, limiterOf, callModel, now } = options;
  const cache = createCache<Summary>({ now, lifetimeMs: SUMMARY_LIFETIME_MS, most: MOST_SUMMARIES });
  const calls = createSharedCalls<Summary>();
  const isOn = (): boolean => settings.providers.size > 0;

  async function write({ provider, model, access, prompt }: Written, signal: AbortSignal): Promise<Summary> {
    const limiter = limiterOf(provider);
    const slot = limiter.take();
    if (!slot.ok) throw tooManyRequests(provider, slot.retryAfterMs);
    try {
      const question = { purpose: 'summary', format: provider, provider, access, model, prompt } as const;
      const { text, cost, tokens } = await callModel(question, slot.lease, signal);
      const generatedAt = new Date(now()).toISOString();
      return { summary: text, provider, model, cost, tokens, cached: false, generatedAt };
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      if (error.retryAfterMs !== undefined) limiter.pause(error.retryAfterMs);
      throw failureFor(provider, model, error);
    } finally {
      slot.lease.release();
    }
  }

  return {
    isOn,
    async summarize(request, signal) {
      if (!isOn()) return 'ai-off';
      const { orchId, template } = request;
      const { provider, model } = chooseModel(request, settings);
      const access = settings.providers.get(provider);
      if (access === undefined) throw withoutKey(provider, settings);
      const known = board();
      if (!knowsRun(known, orchId)) throw unknownRun(orchId);
      if (!workersOfRun(known, orchId).every(isAllowed)) return 'ai-off';
      const prompt = summaryPrompt(known, orchId, template);
      const key = JSON.stringify([orchId, template, snapshotHash(prompt), provider, model]);
      const kept = cache.get(key);
      if (kept !== undefined) return { ...kept, cached: true };
      return calls.join(key, signal, async (left) => {
        const summary = await write({ provider, model, access, prompt }, left);
        cache.set(key, summary);
        return summary;
      });
    },
    close: calls.abortAll,
  };
}

type Written = { provider: ProviderName; model: string; access: Access; prompt: Prompt };

/** The hash of the prompt: everything that the model gets, and nothing else. */
function snapshotHash({ system, text }: Prompt): string {
  return createHash('sha256').update(system).update('\0').update(text).digest('hex');
}

function withoutKey(provider: ProviderName, { missing }: SummarySettings): Failure {
  const variable = missing.get(provider);
  if (variable === undefined)
    return new Failure(
      'not-configured',
      `${provider} is not configured.`,
      `Set the variable that holds its key: svc config set svc.ai.providers.${provider}.apiKeyEnv <NAME>`,
    );
  return new Failure(
    'not-configured',
    `No key for ${provider}: ${variable} was empty when the daemon started.`,
    `Set ${variable} and restart the daemon.`,
  );
}

function unknownRun(orchId: string): Failure {
  return new Failure('unknown-run', `There is no run ${orchId}.`, 'List the runs: svc board');
}

// The briefing, through the gateway of the secrets file. It is written when a client asks for a fresh one, or by timer if
// that is configured; reading the last one never calls the model.

type BriefingAnswer = ApiAnswer<typeof api.getBriefing>;

export type Briefing = {
  last: () => BriefingAnswer;
  /** Fails with a Failure. */
  fresh: (signal: AbortSignal) => Promise<BriefingAnswer>;
  /** Starts to refresh by timer, if that is configured. */
  start: () => void;
  stop: () => void;
};

const GATEWAY = 'The gateway';

function createBriefing(options: {
  /** Undefined: disabled. */
  settings: BriefingSettings | undefined;
  board: () => Board;
  isAllowed: (one: Pick<Worker, 'ticket' | 'repo'>) => boolean;
  limiter: Limiter;
  callModel: CallModel;
  now: () => number;
  logger: Logger;
}): Briefing {
  const { settings, board, isAllowed, limiter, callModel, now, logger } = options;
  const calls = createSharedCalls<BriefingAnswer>();
  let last: BriefingAnswer = {
    enabled: settings !== undefined,
    briefing: null,
    suggestedLabels: [],
    generatedAt: null,
  };
  /** The prompt that the last one was made from. */
  let lastPrompt = '';
  let timer: NodeJS.Timeout | undefined;

  async function write(given: BriefingSettings, signal: AbortSignal): Promise<BriefingAnswer> {
    const { provider, model, access } = given;
    const { prompt, tickets } = briefingRequest(board(), isAllowed);
    const slot = limiter.take();
    if (!slot.ok) throw tooManyRequests(GATEWAY, slot.retryAfterMs);
    try {
      const format = provider === 'provider-b' ? 'chat-completions' : provider;
      const question = { purpose: 'briefing', provider, format, access, model, prompt } as const;
      const { text } = await callModel(question, slot.lease, signal);
      const generatedAt = new Date(now()).toISOString();
      last = { enabled: true, ...readBriefing(text, tickets), generatedAt };
      lastPrompt = prompt.text;
      return last;
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      if (error.retryAfterMs !== undefined) limiter.pause(error.retryAfterMs);
      throw failureFor(GATEWAY, model, error);
    } finally {
      slot.lease.release();
    }
  }

  const fresh = async (signal: AbortSignal): Promise<BriefingAnswer> =>
    settings === undefined ? last : calls.join('', signal, (left) => write(settings, left));

  async function refresh(signal: AbortSignal): Promise<void> {
    try {
      if (briefingRequest(board(), isAllowed).prompt.text !== lastPrompt) await fresh(signal);
    } catch (error) {
      logger.warn({ why: error instanceof Error ? error.message : 'unknown' }, 'no new briefing');
    }
  }

  return {
    last: () => last,
    fresh,
    start() {
      const seconds = settings?.autoRefreshSec ?? null;
      if (seconds === null || timer !== undefined) return;
      const neverAborted = new AbortController();
      timer = setInterval(() => void refresh(neverAborted.signal), seconds * 1000);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      calls.abortAll();
    },
  };
}

// Requests for the same thing share one call. Each can cancel; when the last one has cancelled, the call is aborted.

type SharedCalls<Value> = {
  /** Joins the call of this key, or starts it. */
  join: (key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<Value>) => Promise<Value>;
  /** Aborts every running call. */
  abortAll: () => void;
};

type Call<Value> = { answer: Promise<Value>; waiting: number; abort: () => void };

function createSharedCalls<Value>(): SharedCalls<Value> {
  const calls = new Map<string, Call<Value>>();

  function begin(key: string, start: (signal: AbortSignal) => Promise<Value>): Call<Value> {
    const controller = new AbortController();
    const forget = (): void => {
      if (calls.get(key) === call) calls.delete(key);
    };
    const call: Call<Value> = {
      waiting: 0,
      abort() {
        // Later requests get a new call.
        forget();
        controller.abort();
      },
      answer: start(controller.signal).finally(forget),
    };
    // Waiting requests get the error; if all have cancelled, no one does.
    call.answer.catch(() => undefined);
    calls.set(key, call);
    return call;
  }

  return {
    join(key, signal, start) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const call = calls.get(key) ?? begin(key, start);
      call.waiting += 1;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          call.waiting -= 1;
          if (call.waiting === 0) call.abort();
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        call.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
      });
    },
    abortAll() {
      for (const call of calls.values()) call.abort();
    },
  };
}
