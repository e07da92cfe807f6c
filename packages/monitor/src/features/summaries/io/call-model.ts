// One request to a model, bounded in time: retried once if the failure may be temporary. Every failure has a kind; no
// text from the provider and no key leaves this file.
import type { LanguageModelUsage } from 'ai';
import type { Logger } from 'pino';
import { costOf, pricesAsOf, type TokenUse } from '../../agents/prices.ts';
import { type ProviderName } from '../providers.ts';
import type { Access } from '../settings.ts';
import type { Prompt } from '../summary-prompt.ts';
import type { Lease, ModelFigures, Purpose } from './limiter.ts';
import { ModelFailure, modelFailureOf } from './model-failure.ts';
import {
  createSafeFetch,
  loadSdk,
  openModel,
  providerOptions,
  type Sdk,
  type WireFormat,
} from './open-model.ts';

/** Reasoning models spend most of it before they write. */
const MAX_OUTPUT_TOKENS = 4096;
const LONGEST_ANSWER = 16_000;
const RETRY_AFTER_MS = 500;
const CALL_TIMEOUT_MS = 60_000;

type Question = {
  purpose: Purpose;
  provider: ProviderName;
  format: WireFormat;
  access: Access;
  model: string;
  prompt: Prompt;
};

/** `cost`: null if the model's price is unknown. */
type Answer = { text: string; tokens: number; cost: number | null };

/** Fails only with a ModelFailure. */
export type CallModel = (question: Question, lease: Lease, signal: AbortSignal) => Promise<Answer>;

export function createCallModel(options: {
  fetch: typeof globalThis.fetch;
  now: () => number;
  logger: Logger;
  figures: ModelFigures;
  timeoutMs?: number;
}): CallModel {
  const { now, logger, figures, timeoutMs = CALL_TIMEOUT_MS } = options;
  const fetch = createSafeFetch(options.fetch);
  const unpriced = new Set<string>();

  async function ask(sdk: Sdk, question: Question, signal: AbortSignal): Promise<Answer> {
    const { format, access, model, prompt, provider, purpose } = question;
    const result = await sdk.generateText({
      model: await openModel(format, access, model, fetch),
      instructions: prompt.system,
      prompt: prompt.text,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      maxRetries: 0,
      abortSignal: signal,
      providerOptions,
    });
    const text = result.text.replaceAll(access.key, '[removed]').trim().slice(0, LONGEST_ANSWER);
    if (text === '') throw new ModelFailure('malformed');
    const use = tokenUseOf(result.usage);
    const cost = priced(model, use);
    figures.used({ provider, purpose }, use, cost);
    return { text, tokens: use.input + use.output, cost };
  }

  function priced(model: string, use: TokenUse): number | null {
    const cost = costOf(model, use);
    if (cost === null && !unpriced.has(model) && unpriced.size < 1_000) {
      unpriced.add(model);
      logger.warn({ model, pricesAsOf }, 'the price table does not have this model: its cost is unknown');
    }
    return cost;
  }

  return async (question, lease, signal) => {
    const { provider, purpose, model } = question;
    const label = { provider, purpose };
    const endsAt = now() + timeoutMs;
    const timeIsUp = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, timeIsUp]);
    const failureOf = (error: unknown, sdk: Sdk): ModelFailure => {
      if (signal.aborted) return new ModelFailure('given-up');
      if (timeIsUp.aborted) return new ModelFailure('timed-out');
      return modelFailureOf(error, sdk, now());
    };
    const sdk = await loadSdk();
    for (let attempt = 1; ; attempt += 1) {
      figures.called(label);
      try {
        return await ask(sdk, question, either);
      } catch (error) {
        const failure = failureOf(error, sdk);
        const { kind, status, retryAfterMs } = failure;
        figures.failed(label, kind);
        logger.warn({ provider, model, purpose, attempt, kind, status, retryAfterMs }, 'a model call failed');
        const wait = Math.max(RETRY_AFTER_MS, retryAfterMs ?? 0);
        if (attempt === 2 || !failure.isRetryable || now() + wait >= endsAt) throw failure;
        await lease.again(wait, either).catch((cause: unknown) => {
          throw failureOf(cause, sdk);
        });
      }
    }
  };
}

/** A provider that reports no figures counts as zero. */
function tokenUseOf({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): TokenUse {
  return {
    input: whole(inputTokens),
    output: whole(outputTokens),
    cachedInput: whole(inputTokenDetails.cacheReadTokens),
  };
}

function whole(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
