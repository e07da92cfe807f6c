// Summaries of a run: cached for five minutes, one call for concurrent requests, and no more calls than the provider's
// limiter allows.

import { createHash } from 'node:crypto';
import {
  type ApiAnswer,
  type api,
  type Board,
  chooseModel,
  knowsRun,
  type Prompt,
  type ProviderName,
  type SummaryRequest,
  summaryPrompt,
  type Worker,
  workersOfRun,
} from '@svc/core';
import { createCache } from '@svc/lib/cache';
import { Failure } from '../errors.ts';
import type { CallModel } from './call-model.ts';
import type { Limiter } from './limiter.ts';
import { ModelFailure } from './model-failure.ts';
import type { Access, SummarySettings } from './settings.ts';
import { createSharedCalls } from './shared-calls.ts';
import { failureFor, tooManyRequests } from './summary-failure.ts';

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

export function createSummarizer(options: {
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
